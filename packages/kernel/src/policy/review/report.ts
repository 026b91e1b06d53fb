import { afterColon, type VouchedByKey, type VouchedByNobody } from "../../audit/vouched.ts";
import type { Proof } from "../proof/proof.ts";

export interface ProofStep {
  readonly level: 0 | 1 | 2 | 3;
  readonly name: "digest" | "signature" | "inclusion" | "result" | "re-evaluation" | "discharge";
  /** `skipped`: no evidence for it was given. `unvouched`: no trusted key vouches for the evidence that was given. */
  readonly outcome: "passed" | "failed" | "skipped" | "unvouched";
  /** Why it did not pass; for a signature that passed, of which key. Else empty. */
  readonly reason: string;
}

export type ProofReport =
  /** A trusted key signed the decision, and one vouches for all other evidence. Skipped steps are unknown. */
  | {
      readonly verdict: "verified";
      readonly vouchedBy: VouchedByKey;
      readonly proof: Proof;
      readonly steps: readonly ProofStep[];
    }
  /** Nothing failed, and the author of the proof or of other evidence is unknown. */
  | {
      readonly verdict: "unvouched";
      readonly vouchedBy: VouchedByNobody;
      /** The decision that the proof claims. */
      readonly claimed: Proof;
      readonly steps: readonly ProofStep[];
    }
  | {
      readonly verdict: "broken";
      /** Of the first step that failed. */
      readonly reason: string;
      readonly steps: readonly ProofStep[];
    };

/** Of a call that failed before a decision: no proof says more of it. */
export type FailureReport =
  /** A trusted key vouches for the log, which has this error. */
  | { readonly verdict: "verified"; readonly vouchedBy: VouchedByKey; readonly steps: readonly ProofStep[] }
  | { readonly verdict: "unvouched"; readonly vouchedBy: VouchedByNobody; readonly steps: readonly ProofStep[] }
  /** Without a log. */
  | { readonly verdict: "inconclusive" | "broken"; readonly reason: string; readonly steps: readonly ProofStep[] };

/** The outcome of a step, for people. Empty for a passed step without a remark. */
export function stepText({ outcome, reason }: ProofStep): string {
  return outcome === "passed" ? reason : `${outcome}: ${afterColon(reason)}`;
}
