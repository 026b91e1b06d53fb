import { limits } from "../limits.ts";
import type { Hold } from "../policy/approvals.ts";
import type { Proof } from "../policy/proof.ts";
import { type Validated, validateInput } from "./admit.ts";
import { type Allowed, type ApprovalPorts, approve } from "./approve.ts";
import { checkCapabilities, decidePolicy, type PolicyState } from "./authorize.ts";
import { type Step, stop } from "./call.ts";
import type { Started } from "./execute.ts";

export interface AuthorizePorts extends ApprovalPorts {
  readonly state: PolicyState;
}

/** How far a call came: what its end, whatever it is, has to release and to report. */
export interface Path {
  tool?: string;
  proof?: Proof;
  release?: () => void;
  /** Ends what the call was charged with. */
  settle?: (hasStarted: boolean) => void;
  hold?: Hold;
  started?: Started;
}

/** Steps 3 to 5. Arguments that an approver edited start again at step 2, as children of the question that they answer. */
export async function authorize(first: Validated, ports: AuthorizePorts, path: Path): Promise<Step<Allowed>> {
  const { log, clock, state, authority } = ports;
  let validated = first;
  let parentProofId: string | null = null;
  for (let edits = 0; edits <= limits.edits; edits++) {
    const granted = checkCapabilities(validated, authority(), log, clock);
    if (!granted.ok) return granted;

    const decided = decidePolicy(granted.state, state, log, clock, parentProofId);
    path.proof = decided.proof;
    const { decision, enforced, charges } = decided.verdict;
    // In the same turn in which the counters were read: no other call comes in between.
    if (decision !== "deny" || !enforced) path.settle = state.counters.charge(charges);

    const answer = await approve(decided, ports);
    if (answer.ok) {
      if (answer.state.hold) path.hold = answer.state.hold;
      return answer;
    }
    if (!("edited" in answer)) return answer;
    path.settle?.(false);
    delete path.settle;
    path.proof = answer.proof;
    parentProofId = answer.proof.proofId;
    const again = validateInput(first, answer.edited);
    if (!again.ok) return again;
    validated = again.state;
  }
  return stop("APPROVAL_DENIED", `The arguments were edited more than ${limits.edits} times.`);
}
