import type { DecisionInput } from "../../policy/decision/condition.ts";
import type { Charged, Counters } from "../../policy/decision/counters.ts";
import type { ReadCounter, Verdict } from "../../policy/decision/verdict.ts";
import { type Asked, decideCall } from "../../policy/decision/decide-targets.ts";
import type { Proof } from "../../policy/proof/proof.ts";
import type { SessionLabels } from "../../policy/decision/session-labels.ts";
import { noChanges } from "../../state/change.ts";
import type { CarriedPart } from "../record/carried-part.ts";
import type { DecisionEntry } from "../arrival/entry.ts";
import type { CallRecord, CallRelease } from "../record/record.ts";
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
  const { call, tool, policy, mode, input, inputBytes, grant } = state;
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
  const readCounter: ReadCounter = (_, window) => (isCounted ? 0 : counters.used(window));
  const verdict = decideCall(policy, decisionInput, readCounter, askedOf(state));
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
  const charge = charged && countIn(call, charged);
  call.carry(proofPart, proof);
  return call.reach({ ...state, decisionInput, verdict, proof, charge } as Decided);
}

/** The call stands in its windows for as long as they last if it starts, and leaves no mark if not. */
export function countIn(call: CallRecord, charged: Charged): CallRelease {
  call.persist("start", charged.changes);
  return call.defer(({ hasStarted }) => charged.end(hasStarted));
}

const askedOf = ({ call, tool, targets, grant }: Granted): Asked => ({
  targets,
  grant,
  holder: grantHolderOf(call, tool),
});

/**
 * Whether the policy would let a call pass that it has decided about, as the session and the time are now: a wait can bring
 * labels. The call stands in the counts already. An answer covers the rules that asked, and no others.
 */
export function wouldPass(state: Decided, { labels, clock }: Pick<DecidePorts, "labels" | "clock">): boolean {
  const { call, policy, decisionInput: before, verdict } = state;
  // A session can have been forgotten meanwhile, and its tools have not.
  const added = labels.of(call, policy.allLabels).filter((label) => !before.labels.includes(label));
  const nowMs = clock.now();
  const isSame = added.length === 0 && (!policy.hasTimes || nowMs === before.nowMs);
  if (isSame) return true;
  const now = { ...before, nowMs, labels: [...before.labels, ...added].toSorted() };
  const { decision, enforced, reasonCode, determining } = decideCall(policy, now, () => 0, askedOf(state));
  if (decision === "allow" || !enforced) return true;
  return (
    decision === "ask" &&
    verdict.decision === "ask" &&
    reasonCode === verdict.reasonCode &&
    determining.every((rule) => verdict.determining.includes(rule))
  );
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
