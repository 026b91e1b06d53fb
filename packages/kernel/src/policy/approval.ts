import type { JsonValue } from "../normalize/json.ts";
import type { Effect, Risk, Tier } from "../tool/manifest.ts";

/** What an approver is asked: everything that the approval will be bound to. */
export interface ApprovalRequest {
  readonly approvalId: string;
  readonly callId: string;
  readonly sessionId: string;
  readonly caller: string;
  /** `name@version`. */
  readonly tool: string;
  readonly toolHash: string;
  readonly title: string;
  readonly description: string;
  readonly tier: Tier;
  readonly risk: Risk | null;
  readonly effects: readonly Effect[];
  /** What the call may do: the capabilities left after all narrowing, as one line each. */
  readonly grants: readonly string[];
  /** The exact arguments, defaults filled in. */
  readonly input: JsonValue;
  readonly argsHash: string;
  readonly policyHash: string;
  /** Why it asks, from the rule or the posture. */
  readonly reason: string;
  /** RFC 3339. After it the answer is a denial. */
  readonly expiresAt: string;
}

export type ApprovalAnswer =
  | { readonly answer: "allow"; readonly scope: "once" | "session"; readonly approver: string }
  | { readonly answer: "deny"; readonly approver: string; readonly reason?: string };

/** Answers a request. A rejection, a malformed answer and silence until `expiresAt` are denials. `signal` aborts when nobody waits any more. */
export type Approver = (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalAnswer>;
