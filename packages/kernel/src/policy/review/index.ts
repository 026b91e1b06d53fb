export { type EvidenceFile, type EvidenceRead, readEvidence, verifyEvidence } from "./evidence.ts";
export {
  type CallDifference,
  type ComparedCall,
  diffPolicies,
  type LimitDifference,
  type PolicyDifference,
  type SaidOfCall,
} from "./diff/diff.ts";
export { readInstant } from "../document/instant.ts";
export { explain, type Explanation } from "./explain.ts";
export { type Finding, lintPolicy } from "./lint.ts";
export { locator } from "./locate.ts";
export type { Position } from "../../json/json-places.ts";
export { type PasskeyCheck, passkeyVerifier } from "./passkeys.ts";
export { proofIn } from "./check-obligations.ts";
export { isProof, proofSchema } from "./proof-schema.ts";
export { type RecordedCall, simulate, simulationTable, type SimulatedCall } from "./simulate.ts";
export { keyId, type ProofPublicKey } from "../../audit/public-key.ts";
export { type EnclosedKeys, type KeySource, pinKeys, type TrustedKeys, trustKeys } from "../../audit/trusted-keys.ts";
export { checkpointSigner, createProofKey, type ProofKey, proofSigner, publicKeyOf } from "./sign.ts";
export type { ProofEvidence, ToolEvidence } from "./proof-evidence.ts";
export { type FailureReport, type ProofReport, type ProofStep, stepText } from "./report.ts";
export { type ArgumentRow, argumentRows, questionSentence } from "./question.ts";
export { suggestedGrants } from "./suggested-grants.ts";
export { verifyProof } from "./verify.ts";
export { postureAnswer } from "../decision/decide.ts";
export { isAnswer } from "../proof/proof.ts";
