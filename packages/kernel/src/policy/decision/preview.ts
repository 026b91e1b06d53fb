import type { CallError } from "../../result.ts";
import type { ApprovalRequest } from "../approval/approval.ts";
import type { Proof } from "../proof/proof.ts";

/**
 * The content of a call's later {@link Proof}. It has no ids and no digest: only a call has a
 * proof, and this proves nothing.
 */
export type PreviewProof = Omit<Proof, "proofId" | "callId" | "parentProofId" | "traceparent" | "hash" | "signature">;

/** The later request to the approver. */
export type PreviewQuestion = Omit<ApprovalRequest, "approvalId" | "callId" | "sessionId" | "expiresAt">;

interface Foreseen<Decision extends string> {
  readonly decision: Decision;
  /** `name@version`, or the name as asked for where no tool was found. */
  readonly tool: string;
}

interface Held {
  /** Revoked kinds without which the call can start. For a tool that calls others, also kinds of theirs. Absent where there are none. */
  readonly revoked?: readonly string[];
}

/** The decision of a call, if it were made now. */
export type Preview =
  /** It would start: by the policy, by an approval that stands, or because the policy only observes. `proof` says which. */
  | (Foreseen<"allow"> & Held & { readonly proof: PreviewProof })
  /** The call would send an approval request. Without an approver it ends as `APPROVAL_DENIED`. */
  | (Foreseen<"ask"> & Held & { readonly proof: PreviewProof; readonly question: PreviewQuestion })
  /** It would end with this error. Without a `proof` where nothing is decided: no such tool, invalid input. */
  | (Foreseen<"deny"> & Held & { readonly error: CallError; readonly proof?: PreviewProof });
