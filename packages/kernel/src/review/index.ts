export { type EvidenceFile, type EvidenceRead, readEvidence, readKeys } from "./evidence.ts";
export { explain, type Explanation } from "./explain.ts";
export { type Finding, lintPolicy } from "./lint.ts";
export { locate, type Position } from "./locate.ts";
export { isProof, proofSchema } from "./proof-schema.ts";
export { type RecordedCall, simulate, simulationTable, type SimulatedCall } from "./simulate.ts";
export {
  checkpointSigner,
  createProofKey,
  keyId,
  type ProofKey,
  type ProofPublicKey,
  proofSigner,
  publicKeyOf,
  verifyCheckpointBy,
} from "./sign.ts";
export type { ProofEvidence, ToolEvidence } from "./proof-evidence.ts";
export { type ProofReport, type ProofStep, verifyProof } from "./verify.ts";
