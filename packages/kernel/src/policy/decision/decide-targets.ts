import type { BrokerError } from "../../capability/request.ts";
import { refusalOf, type RequestAuthority } from "../../capability/gate/refusals.ts";
import type { Target } from "../../tool/targets.ts";
import type { Policy } from "../document/make.ts";
import { type DeniedRequest, deniedRequest } from "../proof/proof.ts";
import type { DecisionInput } from "./condition.ts";
import { decide } from "./decide.ts";
import type { ReadCounter, Verdict } from "./verdict.ts";
import { requestPolicyOf } from "./request-policy.ts";

/** The targets of a call, and its grant. */
export interface Asked extends Omit<RequestAuthority, "refusal"> {
  /** The targets that its arguments name. */
  readonly targets: readonly Target[];
}

/** A verdict about a call and about the requests that its arguments name. */
export interface CallVerdict extends Verdict {
  /** Of `target-denied`: the request that the gate would refuse. */
  readonly request?: DeniedRequest;
  readonly refusal?: BrokerError;
}

/**
 * {@link decide}, then the gate's answer to each target in the arguments. It denies a call that the
 * gate could only refuse, before a person is asked. It only denies, and the gate still checks every
 * request.
 */
export function decideCall(policy: Policy, input: DecisionInput, readCounter: ReadCounter, asked: Asked): CallVerdict {
  const verdict = decide(policy, input, readCounter);
  if (asked.targets.length === 0 || (verdict.decision === "deny" && verdict.enforced)) return verdict;
  const denial = deniedTarget(policy, input, asked);
  if (!denial) return verdict;
  return {
    ...verdict,
    decision: "deny",
    enforced: true,
    reasonCode: "target-denied",
    reason: denial.refusal.message,
    determining: [],
    obligations: [],
    ...denial,
  };
}

/** The first target of which the gate would let no request pass. */
function deniedTarget(
  policy: Policy,
  input: DecisionInput,
  { targets, grant, holder }: Asked,
): Required<Pick<CallVerdict, "request" | "refusal">> | undefined {
  // Grants hold where the policy only observes, too.
  const observes = policy.document.enforcement === "observe";
  const refusalBy = observes ? undefined : requestPolicyOf(policy, input).refusal;
  const authority: RequestAuthority = { grant, holder, refusal: refusalBy };
  for (const { needs } of targets) {
    const refused = needs.map((need) => refusalOf(need, authority));
    const [refusal] = refused;
    if (!refusal?.reason || refused.includes(undefined)) continue;
    const [{ kind, target }] = needs;
    return { refusal, request: deniedRequest(kind, target, refusal.reason) };
  }
  return undefined;
}
