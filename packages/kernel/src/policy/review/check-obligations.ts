import type { AuditEvent, AuditEventOf } from "../../audit/event.ts";
import { isAnswer, type Proof } from "../proof/proof.ts";
import { callerIn, labelsOf, obligedLabels, sessionIn } from "../decision/state-reads.ts";
import { isProof } from "./proof-schema.ts";
import { hasOwn } from "../../support/guards.ts";

/** The fault of a log against a decision: a forbidden event, or a missing demanded one. */
export function obligationFault(proof: Proof, events: readonly AuditEvent[]): string | undefined {
  const place = events.findIndex((event) => recordsOf(event, proof));
  if (place < 0) return "The log has no such decision.";
  // The tool ran until then, and what it asked for at the same time may be on record behind it.
  if (proof.reasonCode === "request-denied") return undefined;
  const after = events.slice(place + 1);
  const ofCall = after.filter(({ callId }) => callId === proof.callId);
  const startedAt = ofCall.findIndex(({ type }) => type === "tool.started");
  const later = ofCall.slice(0, startedAt < 0 ? undefined : startedAt).filter(isAboutCall);
  const last = later.at(-1)?.payload ?? proof;
  const hasRun = startedAt >= 0 || ofCall.some(({ type }) => type === "capability.used");
  if (hasRun && last.enforced && last.decision !== "allow")
    return `The tool ran although the decision was ${last.decision}.`;
  if (hasRun && proof.decision === "ask" && proof.obligations.includes("approval")) {
    const answers = later.flatMap((event) => proofIn(event) ?? []);
    const isApproved = answers.some(
      ({ parentProofId, decision, approval, inputHash }) =>
        parentProofId === proof.proofId &&
        decision === "allow" &&
        approval !== null &&
        (approval.passkey !== undefined || !proof.obligations.includes("passkey")) &&
        inputHash === proof.inputHash,
    );
    // Edited arguments make another question of it, whose own proof has to be discharged.
    const isReplaced = answers.some(
      ({ parentProofId, decision }) => parentProofId === proof.proofId && decision === "deny",
    );
    if (!isApproved && !isReplaced) return "The tool ran without the demanded approval.";
  }
  const hasEnded = ofCall.some(({ type }) => type === "tool.completed" || type === "tool.failed");
  if (
    startedAt >= 0 &&
    hasEnded &&
    proof.obligations.includes("body") &&
    !ofCall.some(({ type }) => type === "body.read")
  )
    return "The log has no record of the body's bytes.";
  return hasRun ? labelFault(proof, events, after, ofCall[startedAt]?.seq ?? 0) : undefined;
}

/** Every later decision in the session that looked at labels has to have seen those that this call brought. */
function labelFault(
  proof: Proof,
  events: readonly AuditEvent[],
  after: readonly AuditEvent[],
  startedSeq: number,
): string | undefined {
  const labels = obligedLabels(proof.obligations);
  if (labels.length === 0) return undefined;
  const [session, caller] = [sessionIn(proof.stateReads), callerIn(proof.stateReads)];
  // A session of one name is another one for another caller.
  const others = new Set(events.flatMap((event) => (isOfOther(event, caller) ? [event.callId] : [])));
  for (const event of after) {
    if (!isDecision(event) || event.seq < startedSeq || event.sessionId !== session) continue;
    if (others.has(event.callId)) continue;
    const { labels: seen, policyHash, proofHash, reasonCode } = event.payload;
    if (seen === undefined || policyHash !== proof.policyHash) continue;
    // An answer repeats what its question saw.
    if (isAnswer(reasonCode)) continue;
    const missing = labels.find((label) => !labelsOf(seen).includes(label));
    if (missing !== undefined) return `Decision ${proofHash} did not see the label ${missing}.`;
  }
  return undefined;
}

function isOfOther({ type, payload }: AuditEvent, caller: unknown): boolean {
  return type === "call.invoked" && hasOwn(payload, "caller") && payload.caller !== caller;
}

/** Whether an event records the decision of this proof. */
export function recordsOf(event: AuditEvent, { callId, hash }: Proof): boolean {
  return isDecision(event) && event.callId === callId && event.payload.proofHash === hash;
}

/** Events are foreign, also those of a log that is whole. */
function isDecision(event: AuditEvent): event is AuditEventOf<"policy.decided"> {
  if (event.type !== "policy.decided") return false;
  const { decision, labels, reasonCode }: Readonly<Record<string, unknown>> = event.payload;
  return (
    typeof decision === "string" &&
    typeof reasonCode === "string" &&
    (labels === undefined || typeof labels === "string")
  );
}

/** A decision about the whole call: the refusal of one request is none. */
function isAboutCall(event: AuditEvent): event is AuditEventOf<"policy.decided"> {
  return isDecision(event) && event.payload.reasonCode !== "request-denied";
}

/** The proof in an event that records a decision. */
export function proofIn(event: AuditEvent): Proof | undefined {
  const proof: unknown = event.type === "policy.decided" ? event.payload.proof : undefined;
  return isProof(proof) ? proof : undefined;
}
