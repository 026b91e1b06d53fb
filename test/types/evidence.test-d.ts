/** Checked by the compiler alone: "intact" does not pass for "verified", and a key of a file not for a trusted one. */
import type { JsonValue } from "@keyhole/kernel";
import {
  type AuditCheck,
  type CheckpointCheck,
  type EnclosedKeys,
  pinKeys,
  trustKeys,
  verifyAudit,
} from "@keyhole/kernel/audit";
import { held } from "../../packages/kernel/src/policy/review/statement.ts";
import { WitnessedLog } from "../../packages/kernel/src/policy/review/witnessed-log.ts";
import { type EvidenceRead, type ProofPublicKey, type ProofReport, verifyProof } from "@keyhole/kernel/policy";

export function reports(proof: ProofReport, log: AuditCheck, checkpoint: CheckpointCheck): void {
  for (const report of [proof, log, checkpoint]) {
    // @ts-expect-error: no flag says that it is all right.
    void report.ok;
    // @ts-expect-error: a key is there only once the verdict was looked at.
    void report.vouchedBy.kid;
    if (report.verdict !== "verified") continue;
    const kid: string = report.vouchedBy.kid;
    void kid;
  }
  // @ts-expect-error: an unvouched proof is `claimed`.
  void proof.proof;
  // @ts-expect-error: a broken checkpoint has none.
  void checkpoint.checkpoint;
  // @ts-expect-error: nothing but `vouchedBy` says who signed a checkpoint.
  if (checkpoint.verdict === "verified") void checkpoint.checkpoint.signature;
}

export async function keys(evidence: EvidenceRead, enclosed: EnclosedKeys, own: ProofPublicKey, json: JsonValue) {
  // @ts-expect-error: keys of a file are none that can be trusted without their thumbprints.
  void trustKeys(enclosed);
  // @ts-expect-error: nor are they trusted as they are.
  void verifyProof({}, {}, enclosed);
  // @ts-expect-error: nor are keys as data, which may come from anywhere.
  void verifyProof({}, {}, [own]);
  // @ts-expect-error: evidence has no place for trusted keys.
  void verifyProof({}, { keys: [own] });
  // @ts-expect-error: trusted keys are made by `trustKeys` and `pinKeys` alone.
  void verifyProof({}, {}, { kids: [], verify: () => Promise.resolve("unknown") });
  // @ts-expect-error: nor does a log take keys as data.
  void verifyAudit([], { checkpoints: [], trusted: [own] });
  // @ts-expect-error: a fault has to be looked at.
  void verifyProof({}, {}, await trustKeys(json));
  const pinned = evidence.ok && evidence.value.evidence.enclosedKeys && (await pinKeys(["kid"], enclosed));
  if (pinned && typeof pinned !== "string") void verifyProof({}, {}, pinned);
}

/** A statement passes with a witness alone. */
export function statements(log: WitnessedLog): void {
  // @ts-expect-error: a check names its witness.
  held(1, "inclusion");
  // @ts-expect-error: a program cannot make the voucher itself.
  held(1, "inclusion", { kind: "key", kid: "kid" });
  // @ts-expect-error: events without a voucher are no log.
  void new WitnessedLog([]);
  // @ts-expect-error: the events of a log leave it in statements, with the voucher of the log.
  void log.events;
}
