/*
 * `@keyhole/kernel/audit`: what an auditor needs and a kernel does not. Nothing that a kernel runs imports it.
 */
export { callbackSink } from "./callback-sink.ts";
export { hashOf } from "../hash/hash-by-algorithm.ts";
export { type ChainCheck, verifyChain } from "./chain.ts";
export { type Checkpoint, type CheckpointCheck, type CheckpointState, verifyCheckpoint } from "./checkpoint.ts";
export { digestBytes, printDigest } from "./digest-bytes.ts";
export { chainFault } from "./log-reading.ts";
export { LINE_BYTES, LineFault, Lines, lines } from "./lines.ts";
export {
  consistencyProof,
  inclusionProof,
  leafHash,
  type MerkleFrontier,
  merkleFrontier,
  merkleRoot,
  type TreeHash,
  treeHashOf,
  verifyConsistency,
  verifyInclusion,
} from "./merkle.ts";
export { commitmentOf, type Opening } from "./opening.ts";
export { readPages } from "./read-pages.ts";
export { type EventRecord, eventOf, lineOf, recordOf } from "./record.ts";
export {
  disclose,
  type DisclosedEvent,
  erase,
  redact,
  type Redacted,
  type Redaction,
  type WithheldEvent,
} from "./redact.ts";
export type { ProofPublicKey } from "./public-key.ts";
export { type EnclosedKeys, type KeySource, pinKeys, type TrustedKeys, trustKeys } from "./trusted-keys.ts";
export { type AuditCheck, type AuditFacts, type AuditSource, verifyAudit } from "./verify.ts";
export type { VerifyOptions } from "./verify-options.ts";
export {
  afterColon,
  type EvidenceVerdict,
  type Judged,
  type VouchedBy,
  type VouchedByKey,
  type VouchedByNobody,
  verdictLine,
  verdictReason,
  verdictTexts,
} from "./vouched.ts";
