import type { Use } from "../capability/gate/broker-reply.ts";
import type { RevocationMatch } from "../capability/revocation.ts";
import type { ErrorCode } from "../result.ts";
import type { HealthState } from "../isolate/health.ts";
import type { Decision } from "../policy/document/policy.ts";
import type { PurityFinding } from "../isolate/verify-pure.ts";
import type { Proof, ReasonCode } from "../policy/proof/proof.ts";
import type { RowChange } from "../state/change.ts";
import type { Mode } from "../tool/manifest.ts";

/**
 * The payload of each event type. Arguments, outputs and other texts of tools and callers appear as
 * digests only. `errorHash` is the digest of the caller's `error` (canonical JSON), so a reader can
 * match the two later.
 */
export interface AuditPayloads {
  readonly "tool.registered": { readonly tool: string; readonly toolHash: string };
  /** No new call gets the tool. Started calls finish. */
  readonly "tool.unregistered": { readonly tool: string; readonly toolHash: string };
  /**
   * No isolate of the tool is opened for this caller for `restMs`: the last `failures` of them died or could not be opened. With `cause` no call of it starts, because so many did
   * not end in time; without a caller, for all callers. Told again with each further one. `went-on`: code of it ran although no call did.
   */
  readonly "tool.quarantined": {
    readonly tool: string;
    readonly toolHash: string;
    readonly caller?: string;
    readonly cause?: "timeouts" | "went-on";
    readonly failures: number;
    readonly restMs: number;
  };
  /** A program asked how a tool is: its `setup` and `health` are about to run. */
  readonly "health.asked": {
    readonly tool: string;
    readonly toolHash: string;
    readonly caller: string;
    readonly host: string;
  };
  readonly "health.answered": {
    readonly tool: string;
    readonly toolHash: string;
    readonly caller: string;
    readonly state: HealthState;
  };
  /** A program asked whether a tool is as pure as it says: it is about to run with so many inputs, again and again. */
  readonly "purity.asked": {
    readonly tool: string;
    readonly toolHash: string;
    readonly host: string;
    readonly inputs: number;
  };
  /** `varies` and `asked`: it lies, with the input of this digest. */
  readonly "purity.answered": {
    readonly tool: string;
    readonly toolHash: string;
    readonly found: PurityFinding;
    readonly inputHash: string | null;
    readonly outcomeHashes: readonly string[];
  };
  readonly "policy.changed": { readonly policyHash: string; readonly previousHash: string | null };
  /** `author`: the subject of the token that asked for it. Absent where the program or a trigger did. */
  readonly "mode.changed": {
    readonly mode: Mode;
    readonly previous: Mode;
    readonly reason: string;
    readonly author?: string;
  };
  /** An operator revoked grants; `calls` is how many running ones it reached. */
  readonly "grant.revoked": {
    readonly revocationId: string;
    readonly match: RevocationMatch;
    readonly reason: string;
    readonly calls: number;
  };
  readonly "grant.restored": { readonly revocationId: string; readonly reason: string };
  readonly "call.invoked": {
    readonly tool: string;
    readonly caller: string;
    readonly inputHash: string | null;
    readonly correlationId: string | null;
    /** The call from within which this one was made. */
    readonly parentCallId: string | null;
  };
  /**
   * The policy keeps these values of the input or the output: by JSON Pointer into `{ input, output }`, the digest of each value with its salt. The values themselves
   * are in the content store.
   */
  readonly "data.kept": { readonly commitments: Readonly<Record<string, string>> };
  readonly "capability.checked": {
    readonly grantHash: string;
    readonly granted: readonly string[];
    readonly missing: readonly string[];
  };
  readonly "policy.decided": {
    readonly decision: Decision;
    readonly enforced: boolean;
    readonly reasonCode: ReasonCode;
    /** Ids of the rules that decided. */
    readonly rules: readonly string[];
    readonly policyHash: string;
    /** `hash` of the proof, which the result of the call carries. */
    readonly proofHash: string;
    /** The labels of the session, separated by spaces. Only under a policy with labels. */
    readonly labels?: string;
    /** Whole, for a decision that follows from another one or asks for one: no result, or not only one, carries it. */
    readonly proof?: Proof;
  };
  readonly "approval.requested": {
    readonly approvalId: string;
    readonly argsHash: string;
    readonly reason: string;
    readonly expiresAt: string;
  };
  readonly "approval.resolved": {
    readonly approvalId: string;
    readonly answer: "allow" | "deny" | "expired" | "cancelled";
    readonly approver: string;
    readonly reason: string;
  };
  /** No slot of the tool is free: the call waits for one, for at most `waitMs`. `position`: in the queue, from 1. */
  readonly "call.queued": { readonly position: number; readonly waitMs: number };
  readonly "tool.started": { readonly tool: string; readonly toolHash: string; readonly host: string };
  readonly "capability.used": Use;
  /**
   * The part of the body that the tool received: all of it, or as far as it read. Before the end of
   * the call.
   */
  readonly "body.read": { readonly bodyHash: string; readonly bodyBytes: number; readonly whole: boolean };
  /** The call carries an idempotency key: digests of the key with its caller, and of tool and input. */
  readonly "call.keyed": { readonly keyHash: string; readonly argsHash: string };
  /** Nothing ran for this call: it is given the result of another one, for an equal pure call or under its idempotency key. */
  readonly "result.reused": { readonly from: string; readonly by: "cache" | "idempotency-key" };
  /** Run number `attempt` begins, because the one before it failed. */
  readonly "tool.retried": { readonly attempt: number; readonly code: ErrorCode; readonly errorHash: string };
  /**
   * The call waits outside of every kernel, in a snapshot of this id; no part of it continues here.
   * This is not its end. The nested calls that it waits for are in the same snapshot.
   */
  readonly "tool.suspended": { readonly snapshotId: string };
  /** The call continues here, from the snapshot of this id. */
  readonly "tool.resumed": { readonly snapshotId: string };
  readonly "tool.completed": {
    readonly outputHash: string;
    readonly outputBytes: number;
    /** `name@version` of a normal form of the embedding program. */
    readonly normalizer?: string;
    readonly effects: readonly string[];
    readonly fuelUsed?: number;
    readonly peakMemoryBytes?: number;
    /** Absent where the call used no network. */
    readonly networkRequests?: number;
    readonly networkBytes?: number;
  };
  /** It ran and did not give a result. */
  readonly "tool.failed": {
    readonly code: ErrorCode;
    readonly errorHash: string;
    readonly effects: readonly string[];
    readonly fuelUsed?: number;
    readonly peakMemoryBytes?: number;
    readonly networkRequests?: number;
    readonly networkBytes?: number;
  };
  /** It never ran. `effects`: those of the call whose failure it is given. */
  readonly "tool.blocked": {
    readonly code: ErrorCode;
    readonly errorHash: string;
    readonly effects?: readonly string[];
  };
  /** Written by recovery for a call that has no end. */
  readonly "tool.lost": { readonly lastSeq: number };
  /** Written when a log is opened whose last write a crash tore: so many bytes behind event `lastSeq` were cut away. */
  readonly "log.recovered": { readonly cutBytes: number; readonly lastSeq: number | null };
}

export type AuditType = keyof AuditPayloads;

/** One link of the log: canonical JSON, chained by `prev`. */
export type AuditEvent = { readonly [Type in AuditType]: AuditEventOf<Type> }[AuditType];

export interface AuditEventOf<Type extends AuditType> {
  readonly v: 1;
  /** From 0, without gaps. */
  readonly seq: number;
  /** UUIDv7. */
  readonly id: string;
  /** RFC 3339, UTC, milliseconds. */
  readonly time: string;
  readonly type: Type;
  /** `null` for events that belong to no call. */
  readonly callId: string | null;
  readonly sessionId: string | null;
  readonly traceparent: string | null;
  readonly payload: AuditPayloads[Type];
  /** The state that governs and that changes with this event, a row each. A kernel that opens the log has it from here. Absent where none changes. */
  readonly state?: readonly RowChange[];
  /** `hash` of the event before; of the first one, 64 zeros behind the algorithm's name. */
  readonly prev: string;
  /** Digest of the canonical JSON of everything above. */
  readonly hash: string;
}

/** Table, version and key of the row that `mode.changed` puts. */
export const modeRow = ["kernel.mode", 1, "mode"] as const;

/** Exactly one of these ends each call. */
export const terminalTypes: readonly AuditType[] = ["tool.completed", "tool.failed", "tool.blocked", "tool.lost"];
