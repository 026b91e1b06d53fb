import type { OwnNeed } from "../../capability/family.ts";
import type { GateOptions } from "../../capability/gate/gate.ts";
import { type RequestPolicy, requestPolicyOf, type RunningFacts } from "../../policy/decision/request-policy.ts";
import type { LabelsOfRun } from "../../policy/decision/session-labels.ts";
import { isStricter } from "../../tool/modes.ts";
import type { CallRecord } from "../record/record.ts";
import type { AuthorizePorts } from "./authorize.ts";
import { observes, type Reserved } from "./reserve.ts";

type GuardPorts = Pick<AuthorizePorts, "authority" | "clock">;

/** The policy for the requests of a call, for all its runs. */
export function requestGuard(
  state: Reserved,
  labels: LabelsOfRun | undefined,
  ports: GuardPorts,
): Pick<GateOptions, "limit" | "refusal"> {
  const { call, tool, policy, decisionInput } = state;
  let known: RequestPolicy | undefined;
  const guard = (): RequestPolicy => (known ??= requestPolicyOf(policy, decisionInput, factsOf(state, labels, ports)));
  const isObserved = observes(policy);
  return {
    limit: isObserved ? undefined : (need) => guard().limit(need),
    refusal: (need) => {
      const reason = guard().refusal(need);
      if (reason !== undefined && !isObserved) return reason;
      if (reason !== undefined) call.warn(`Not enforced: ${reason}`);
      noteNeed(call, tool.manifest.name, need);
      return undefined;
    },
  };
}

/** The facts at each request: the strictest mode since the decision, the labels of the session, the time. No accessors, for the reason of `CallContext`. */
function factsOf(
  { decisionInput }: Reserved,
  labels: LabelsOfRun | undefined,
  { authority, clock }: GuardPorts,
): () => RunningFacts {
  let strictest = decisionInput.mode;
  return () => {
    const { mode } = authority();
    if (isStricter(mode, strictest)) strictest = mode;
    return { mode: strictest, labels: labels?.now ?? decisionInput.labels, nowMs: clock.now() };
  };
}

function noteNeed(call: CallRecord, tool: string, need: OwnNeed): void {
  call.origin.asked(need);
  for (let each = call.parent?.call; each; each = each.parent?.call) each.origin.askedWithin(tool, need);
}
