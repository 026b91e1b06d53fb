import type { DecisionInput } from "../../policy/decision/condition.ts";
import type { Counters } from "../../policy/decision/counters.ts";
import type { Verdict } from "../../policy/decision/verdict.ts";
import { decideCall } from "../../policy/decision/decide-targets.ts";
import type { Proof } from "../../policy/proof/proof.ts";
import type { SessionLabels } from "../../policy/decision/session-labels.ts";
import { noChanges } from "../../state/change.ts";
import type { CarriedPart } from "../record/carried-part.ts";
import type { DecisionEntry } from "../arrival/entry.ts";
import type { CallRelease } from "../record/record.ts";
import { refusalFault } from "../faults/fault.ts";
import { type Granted, grantHolderOf } from "./check-grants.ts";
import { type ProofPorts, recordDecision } from "./prove.ts";

declare class Made {
  #decide: never;
}
/** A call with a decision; `proof` contains it. Only `authorize` lets the call continue. */
export interface Decided extends Granted, Made {
  readonly decisionInput: DecisionInput;
  readonly verdict: Verdict;
  readonly proof: Proof;
  /** The handle to undo what the call was charged with: the kernel charges edited arguments anew. */
  readonly charge: CallRelease | undefined;
}

/** The proof that a resumed call's own proof follows from. */
export const proofPart: CarriedPart<Proof> = { name: "proof" };

export interface DecidePorts extends ProofPorts {
  /** The counters of the policy. */
  readonly counters: Counters;
  readonly labels: SessionLabels;
}

/** Step 4: the one place where the policy is asked, for new, edited and resumed calls alike. */
export function decide(state: Granted, entry: DecisionEntry, ports: DecidePorts): Decided {
  const { call, tool, policy, mode, input, inputBytes, grant, targets } = state;
  const { counters, labels, clock } = ports;
  const decisionInput: DecisionInput = {
    manifest: tool.manifest,
    caller: call.caller,
    sessionId: call.sessionId,
    mode,
    input,
    inputBytes,
    granted: grant.kinds,
    nowMs: clock.now(),
    labels: labels.of(call, policy.allLabels),
  };
  // A call that had started is in the counts already: they are no reason to stop it half-way.
  const isCounted = entry.phase === "run";
  const asked = { targets, grant, holder: grantHolderOf(call, tool) };
  const verdict = decideCall(policy, decisionInput, (_, window) => (isCounted ? 0 : counters.used(window)), asked);
  const changes = policy.allLabels.length === 0 ? noChanges : labels.refresh(call);
  const proof = recordDecision(state, verdict, ports, { parentProofId: parentProofId(state, entry), changes });
  if (verdict.refusal) {
    call.decided(proof);
    throw refusalFault(verdict.refusal);
  }
  const isFree = isCounted || entry.phase === "preview" || isDenied(verdict);
  const charges = isFree ? [] : verdict.charges;
  // In the turn of the reading of the counters: no other call comes in between.
  const charged = charges.length === 0 ? undefined : counters.charge(charges);
  const charge = charged && call.defer(({ hasStarted }) => charged.end(hasStarted));
  if (charged) call.persist("start", charged.changes);
  call.carry(proofPart, proof);
  return call.reach({ ...state, decisionInput, verdict, proof, charge } as Decided);
}

/**
 * The proof of the edited request, of the decision before the suspension, or of the parent call.
 */
function parentProofId({ call }: Granted, entry: DecisionEntry): string | null {
  if (entry.phase === "edit") return entry.parentProofId;
  return call.came(proofPart)?.proofId ?? call.parent?.proofId ?? null;
}

export function isDenied({ decision, enforced }: Verdict): boolean {
  return decision === "deny" && enforced;
}
