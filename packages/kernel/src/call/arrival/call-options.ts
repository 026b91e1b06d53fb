import type { AuditEvent } from "../../audit/event.ts";
import type { Bounds } from "../../bounds/bounds.ts";
import type { Capability } from "../../capability/capability.ts";
import type { Approver } from "../../policy/approval/approval.ts";
import type { LogEntry, Progress } from "../../tool/report.ts";

export interface CallOptions {
  /** SemVer version or range (`1.2.3`, `^1.2.0`, `~1.2.0`, `1.x`). Default: the highest registered. */
  readonly version?: string;
  /** The name of the caller; rules and grants can name it. Default `anonymous`. */
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
   * Names the operation, so that it happens once. A later call of the same caller with the same
   * key, tool and input gets the first call's result. It waits for a running first call. Another
   * tool or input is refused. The kernel keeps a key for 24 hours. After a restart it knows the
   * used keys of the log, without their results.
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
  /** Cancels the call: the tool's signal aborts, and its isolate ends after the grace period. */
  readonly signal?: AbortSignal;
  /** Replaces the kernel's approver for this call, and for no call that this one makes. */
  readonly approver?: Approver;
  /**
   * Replaces the kernel's approver for nested calls of every depth. It answers requests that no
   * person has seen yet: show it each of them.
   */
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
   * The bytes that a tool with a `body` in its manifest reads while it runs. The kernel takes no
   * more than the tool reads. Chunks have any size. At the end of the call the kernel cancels the
   * unread rest. A call with a body has no idempotency key, and its result serves no other call.
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
  /** No call of this id is in progress here. */
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

/** A suspended call, or the reason why the call continues instead. */
export type Suspension =
  | {
      readonly ok: true;
      /** Encrypted: without the key they show only their length. They resume once. */
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
