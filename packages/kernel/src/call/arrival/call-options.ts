import type { AuditEvent } from "../../audit/event.ts";
import type { Bounds } from "../../bounds/bounds.ts";
import type { Capability } from "../../capability/capability.ts";
import type { Approver } from "../../policy/approval/approval.ts";
import type { LogEntry, Progress } from "../../tool/report.ts";

export interface CallOptions {
  /** SemVer version or range (`1.2.3`, `^1.2.0`, `~1.2.0`, `1.x`). Default: the highest registered. */
  readonly version?: string;
  /** Who calls; rules and grants can name it. Default `anonymous`. */
  readonly caller?: string;
  /** Default: a session of its own. */
  readonly sessionId?: string;
  readonly correlationId?: string;
  /** W3C Trace Context of the caller's span. */
  readonly traceparent?: string;
  /** Narrows what policy grants; can never widen it. */
  readonly grants?: readonly Capability[];
  /** Lowers the tool's bounds; can never raise them. */
  readonly bounds?: Partial<Bounds>;
  /**
   * Names what the call does, so that it is done once: the same key of the same caller, with the same tool and input, gives the first call's result, also
   * while that one is under way. With anything else it is refused. Kept for 24 hours in memory; after a restart a key of the log's end is known as used.
   */
  readonly idempotencyKey?: string;
  /** `false`: the tool runs, even if the cache has its pure result. Default `true`. */
  readonly cache?: boolean;
  /**
   * `true`: an output of more than 1,048,576 bytes is put into the kernel's content store, and the result has a `reference` in its place. Without a
   * store, or when it fails, the output itself is in the result. Default `false`.
   */
  readonly references?: boolean;
  /**
   * `true`: the result has the tool's own output as `raw`, where a normalizer changed it (line ends, Unicode, a custom normal form). A result
   * of the cache, of an idempotency key or by reference has no `raw`. Default `false`.
   */
  readonly raw?: boolean;
  /** The longest wait for a slot of the tool, from 0 (refused at once, with `retryAfterMs`) to 900,000. Default: the call's `timeoutMs`, at most 30,000. */
  readonly waitMs?: number;
  /** Cancels: the tool is told, and killed after the grace period. */
  readonly signal?: AbortSignal;
  /** Replaces the kernel's approver for this call, and for no call that this one makes. */
  readonly approver?: Approver;
  /** Replaces the kernel's approver for the calls that this one makes, however deep. It answers questions that nobody has seen yet: show it each of them. */
  readonly nestedApprover?: Approver;
  /**
   * Takes the output of a tool of kind `stream` while it runs. The tool makes no more than this
   * stream takes. The kernel closes the stream after a result, and aborts it with the error after a
   * failure. So an incomplete output never ends like a complete one. The call ends as `CANCELLED`
   * when the stream fails or takes no more. Without this option the kernel counts and hashes the
   * bytes and drops them.
   */
  readonly output?: WritableStream<Uint8Array>;
  /**
   * What a tool whose manifest has a `body` reads while it runs, as fast as it reads. Its chunks are bytes, of any size. The call ends it: what was not read is
   * cancelled. A call with a body has no idempotency key, and its result is not kept for equal ones.
   */
  readonly body?: ReadableStream<Uint8Array>;
  readonly onEvent?: (event: AuditEvent) => void;
  readonly onLog?: (entry: LogEntry) => void;
  readonly onProgress?: (progress: Progress) => void;
}

export interface SuspendOptions {
  /** How long requests that brokers are serving may take to be answered first. Default 1,000. */
  readonly waitMs?: number;
}

export type SuspendCode =
  /** No call of this id is under way here, or it ended meanwhile. */
  | "CALL_NOT_FOUND"
  /** It waits for nothing: it computes, it waits for a free slot or for its next attempt, or other calls use its isolate. */
  | "NOT_WAITING"
  /** A broker serves a request that must not be made twice, and did not answer in time. */
  | "REQUEST_IN_FLIGHT"
  /** It is made by another call: that one can be suspended, with it. */
  | "NOT_OUTERMOST"
  /** Its caller has, or gives, a part of what it is about: its output is a stream. */
  | "STREAMS"
  /** Its host cannot. */
  | "UNSUPPORTED_HOST"
  /** The log could not be written; the call has ended. */
  | "AUDIT_UNAVAILABLE"
  /** This kernel suspends no calls. */
  | "SUSPENSION_UNAVAILABLE"
  | "INTERNAL";

/** A call that was put aside, or why it was not: then it goes on as if nobody had asked. */
export type Suspension =
  | {
      readonly ok: true;
      /** Encrypted: whoever has them and not the key learns how long they are. They go on once. */
      readonly bytes: Uint8Array<ArrayBuffer>;
      /** As in the log. */
      readonly snapshotId: string;
      readonly callId: string;
      /** `name@version`. */
      readonly tool: string;
    }
  | {
      readonly ok: false;
      readonly error: { readonly code: SuspendCode; readonly message: string; readonly hint: string };
    };

/** Everything else the call has with it. */
export type ResumeOptions = Pick<
  CallOptions,
  "signal" | "approver" | "nestedApprover" | "onEvent" | "onLog" | "onProgress"
>;
