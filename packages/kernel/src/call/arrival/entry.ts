import type { Revocation } from "../../capability/revocation.ts";

/** The identity of one call, the same in every process that resumes it. */
export interface CallIdentity {
  readonly callId: string;
  readonly sessionId: string;
  readonly caller: string;
  readonly traceparent: string;
  /** The caller's own name for what this call belongs to. */
  readonly correlationId: string | null;
  /** Seeds what the tool sees as random. */
  readonly seed: string;
  /** Milliseconds since the epoch: the time on the tool's clock. */
  readonly nowMs: number;
}

/** The state of a suspended call, for the process that resumes it. */
export interface Before {
  readonly queuedMs: number;
  readonly warnings: readonly string[];
  /** By the name of each {@link CarriedPart}. */
  readonly parts: Readonly<Record<string, unknown>>;
  readonly since: Since;
}

/** Events between suspension and resume that concern any call of a snapshot. */
export interface Since {
  /**
   * Revocations that reached the calls before or during the suspension, also those restored since.
   */
  readonly revocations: readonly Revocation[];
  /** Ids of approvals that were revoked during the suspension. */
  readonly revokedApprovals: ReadonlySet<string>;
  /** Hashes of tools that were unregistered during the suspension: their approvals ended. */
  readonly unregistered: ReadonlySet<string>;
}

/**
 * The beginning of a pass through the pipeline. Steps that have happened are not repeated; checks
 * are.
 */
export type Entry =
  | { readonly phase: "arrival"; readonly input: unknown }
  /** An approver changed the arguments. */
  | { readonly phase: "edit"; readonly input: unknown; readonly parentProofId: string }
  /** Resumed in an open question. */
  | { readonly phase: "question"; readonly input: unknown }
  /** Resumed in a run; whether it holds its slot already. */
  | { readonly phase: "run"; readonly input: unknown; readonly hasSlot: boolean };

/** The beginning of a pass that ends with the decision: of a call, or of a preview of it, for which nothing is charged. */
export type DecisionEntry = Entry | { readonly phase: "preview"; readonly input: unknown };
