import type { DenialReason } from "../../capability/denial.ts";
import type { Mode, Tier } from "../../tool/manifest.ts";
import type { Decision, PolicyRule, Posture } from "../document/policy.ts";

export const reasonCodes = [
  "rule",
  "posture",
  "mode",
  "tool-mode",
  "tool-approval",
  "tool-size",
  "rate",
  "capability-denied",
  "revoked",
  "rule-error",
  "approved",
  "approval-denied",
  "approval-expired",
  "approval-void",
  "request-denied",
  "target-denied",
] as const;
/** The reason of a decision. */
export type ReasonCode = (typeof reasonCodes)[number];

const answerCodes: ReadonlySet<ReasonCode> = new Set([
  "approved",
  "approval-denied",
  "approval-expired",
  "approval-void",
]);

/** Whether it says how a question ended. Everything else in such a proof is the question's. */
export function isAnswer(reasonCode: ReasonCode): boolean {
  return answerCodes.has(reasonCode);
}

/** The reason of a decision: canonical JSON (RFC 8785) under its own digest, verified offline. */
export interface Proof {
  readonly v: 1;
  readonly proofId: string;
  readonly callId: string;
  /** The proof that this one follows from: the question that an approval answers, the caller of a nested call. */
  readonly parentProofId: string | null;
  /** RFC 3339, UTC, milliseconds. */
  readonly decidedAt: string;
  readonly traceparent: string;
  readonly decision: Decision;
  /** `false` where the policy only observes. */
  readonly enforced: boolean;
  readonly reasonCode: ReasonCode;
  /** `name@version`. */
  readonly tool: string;
  readonly toolHash: string;
  readonly inputHash: string;
  readonly grantHash: string;
  readonly policyHash: string;
  readonly policyVersion: string;
  readonly engineVersion: string;
  readonly posture: Posture;
  readonly mode: Mode;
  readonly tier: Tier;
  readonly determining: readonly { readonly ruleId: string; readonly ruleHash: string }[];
  readonly errors: readonly { readonly ruleId: string; readonly code: string }[];
  /** The number of tried rules, without those that name other tools or callers. */
  readonly considered: number;
  /**
   * `caller`, `session`, `labels` (separated by spaces) and `count:RULE` (before this call): the
   * state behind the decision, beside all other fields.
   */
  readonly stateReads: readonly StateRead[];
  /** `name@version` of the normal form that the output will have, where it is one of the embedding program's. */
  readonly normalizer?: string;
  /**
   * `approval`: the call needs an approval before it runs. `passkey`: with a passkey of the policy.
   * `body`: a stream comes with the input, and the log has the read part. `label:NAME`: the session
   * carries the label from then on.
   */
  readonly obligations: readonly string[];
  readonly approval: ApprovalProof | null;
  /** Of `request-denied`: the request of the running tool that the gate refused. Of `target-denied`: the request that the arguments name. */
  readonly request?: DeniedRequest;
  /** Digest of everything above. */
  readonly hash: string;
  /** Over `hash`. Only where the kernel has a signer. */
  readonly signature?: ProofSignature;
}

/** A request that a grant, a revocation or the policy refused, as the journal names it. */
export interface DeniedRequest {
  /** The kind of capability. */
  readonly kind: string;
  /** At most 1,024 UTF-16 code units of it. */
  readonly target: string;
  readonly reason: DenialReason;
}

/** A target can be as long as a broker or an argument makes it. */
export function deniedRequest(kind: string, target: string, reason: DenialReason): DeniedRequest {
  return { kind, target: target.slice(0, 1_024).toWellFormed(), reason };
}

export interface StateRead {
  readonly key: string;
  readonly value: string | number;
}

export interface ProofSignature {
  readonly alg: "EdDSA";
  /** Thumbprint of the public key (RFC 7638). */
  readonly kid: string;
  /** base64url, over the UTF-8 bytes of `hash`. */
  readonly value: string;
}

export interface ApprovalProof {
  readonly approvalId: string;
  readonly argsHash: string;
  readonly approver: string;
  readonly scope: "once" | "session" | "pattern";
  /** The rule of an approval for a pattern: it answers later matching requests of this session. */
  readonly rule?: PolicyRule;
  readonly nonce: string;
  readonly expiresAt: string;
  /** Where the policy demanded it. */
  readonly passkey?: PasskeyProof;
}

/**
 * The assertion of a passkey (Web Authentication Level 3, section 6.3.3). Each member in base64url.
 */
export interface PasskeyAssertion {
  readonly credentialId: string;
  readonly authenticatorData: string;
  readonly clientDataJSON: string;
  readonly signature: string;
}

/** An assertion, and what of its question stands nowhere else in the proof. */
export interface PasskeyProof extends PasskeyAssertion {
  readonly caller: string;
  readonly sessionId: string;
  /** RFC 3339: when the question closed. */
  readonly askedUntil: string;
}
