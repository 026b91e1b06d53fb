import type { AuditEvent } from "./audit/event.ts";
import type { AuditReader } from "./audit/reader.ts";
import type { AuditSink } from "./audit/sink.ts";
import type { Bounds } from "./bounds/bounds.ts";
import type { Broker } from "./capability/broker.ts";
import type { CallSuspender } from "./call/live.ts";
import type { Effect, Capability } from "./capability/capability.ts";
import type { Revocation, RevocationMatch } from "./capability/revocation.ts";
import type { SecretKeeper } from "./capability/secret.ts";
import type { Reuse } from "./isolate/pool.ts";
import type { Clock } from "./isolate/clock.ts";
import type { ToolHealth } from "./isolate/health.ts";
import type { PureCheck } from "./isolate/verify-pure.ts";
import type { IsolateHost } from "./isolate/port.ts";
import type { ToolQuarantine } from "./isolate/quarantine.ts";
import type { ContentStore } from "./normalize/content.ts";
import type { Hash } from "./normalize/hash.ts";
import type { CustomNormalizers } from "./normalize/normalizer.ts";
import type { Approver } from "./policy/approval.ts";
import type { ModeTrigger } from "./policy/mode-manager.ts";
import type { StandingApproval } from "./policy/approvals.ts";
import type { Proof } from "./policy/proof.ts";
import type { PolicyVariables } from "./policy/variables.ts";
import type { CallResult, Setup } from "./result.ts";
import type { Tool } from "./tool/define.ts";
import type { Mode, Tier, ToolManifest } from "./tool/manifest.ts";
import type { ToolPackage } from "./tool/package.ts";
import type { LogEntry, Progress } from "./tool/report.ts";

export interface KernelOptions {
  /** Runs `module` tools. Without it only `inline` tools run. */
  readonly host?: IsolateHost;
  /**
   * By name of a tool: whom the memory of its isolate may serve again. Default: `session`, so that what one session left never serves another.
   *
   * @example
   * const kernel = await createKernel({ host, reuse: { run_code: "call" } });
   */
  readonly reuse?: Readonly<Record<string, Reuse>>;
  /** A {@link PolicyDocument}. Default: posture strict, no grants. */
  readonly policy?: unknown;
  /** Added to the host's; a broker replaces the host's for its kinds. */
  readonly brokers?: readonly Broker[];
  /** Default: in memory, bounded. */
  readonly sink?: AuditSink;
  /** Keeps the values that the policy says to keep. Without it such a policy is refused. `contentStore` of `@keyhole/worker-host/content` makes one. */
  readonly content?: ContentStore;
  /** Default: nobody answers, every `ask` is a denial. */
  readonly approver?: Approver;
  readonly clock?: Clock;
  readonly mode?: Mode;
  /** When the mode changes by itself. A log whose last events do not chain always opens in LOCKDOWN. */
  readonly modeTriggers?: readonly ModeTrigger[];
  /** Values of `${NAME}` in the policy's texts, also for policies that are set later. */
  readonly policyVariables?: PolicyVariables;
  /** Whether results of `pure` tools that run in isolates may answer equal calls. Default `true`. */
  readonly cache?: boolean;
  /** Values for the placeholders of tools. `secretKeeper` of `@keyhole/kernel/secrets` makes one. Default: none, and a request with a placeholder is refused. */
  readonly secrets?: SecretKeeper;
  /** Lets calls that wait be put into bytes: {@link Kernel.suspend}. `callSuspender` of `@keyhole/kernel/suspend` makes one. */
  readonly suspender?: CallSuspender;
  /** Signs the proof of every result. `proofSigner` of `@keyhole/kernel/policy` makes one. */
  readonly signer?: ProofSigner;
  /**
   * The one algorithm of all digests: events, proofs, inputs, outputs, policies, tools. Default {@link blake3Hash}. A log keeps the one that it began with.
   *
   * @example
   * import { sha256Hash } from "@keyhole/kernel/sha256";
   * const kernel = await createKernel({ hash: sha256Hash });
   */
  readonly hash?: Hash;
  /** Normal forms that tools may name in their manifest. `normalizers` of `@keyhole/kernel/normalizers` makes them. Default: none. */
  readonly normalizers?: CustomNormalizers;
}

export interface ProofSigner {
  /** When it fails, the proof is returned unsigned, with a warning. */
  sign(proof: Proof): Promise<Proof>;
}

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
  /** `false`: the tool runs, whatever the cache of pure results holds. Default `true`. */
  readonly cache?: boolean;
  /**
   * `true`: an output of more than 1,048,576 bytes is put into the kernel's content store, and the result has a `reference` in its place. Without a
   * store, or when it fails, the output itself is in the result. Default `false`.
   */
  readonly references?: boolean;
  /** The longest wait for a slot of the tool, from 0 (refused at once, with `retryAfterMs`) to 900,000. Default: the call's `timeoutMs`, at most 30,000. */
  readonly waitMs?: number;
  /** Cancels: the tool is told, and killed after the grace period. */
  readonly signal?: AbortSignal;
  /** Replaces the kernel's approver for this call. */
  readonly approver?: Approver;
  /**
   * Takes the output of a tool of kind `stream` while it runs; the tool makes no more than this takes. Closed when the call has given its result, aborted with the
   * error where there is none, so that what was cut off is not taken for whole. When it fails, or takes no more, the call ends as `CANCELLED`. Without it the
   * bytes are counted and hashed, and gone.
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
export type ResumeOptions = Pick<CallOptions, "signal" | "approver" | "onEvent" | "onLog" | "onProgress">;

export interface ToolSummary {
  /** `name@version`. */
  readonly id: string;
  /** Over manifest and `codeHash`. */
  readonly hash: string;
  /** Of the code alone; `null` for an inline tool. */
  readonly codeHash: string | null;
  readonly manifest: ToolManifest;
  /** Absent where none of its callers has to wait. */
  readonly quarantine?: ToolQuarantine;
}

export interface ToolFilter {
  readonly mode?: Mode;
  readonly category?: string;
  readonly tier?: Tier;
  readonly effect?: Effect;
  /** Case-insensitive, in name, title or description. */
  readonly text?: string;
}

/** The kernel as a program sees it. */
export interface Kernel {
  /** Checks a package and makes it callable. Its code runs in an isolate. A tool object is refused with `UNTRUSTED_TOOL`. */
  register(pkg: ToolPackage): Setup<ToolSummary>;
  /** Checks a tool object and makes it callable **without isolation**: its code can do all that the kernel's own program can do. */
  registerTrusted(tool: Tool<never, unknown>): Setup<ToolSummary>;
  /** Sorted by name, then by version, highest first. */
  list(filter?: ToolFilter): readonly ToolSummary[];
  /**
   * Runs a tool through the whole pipeline. Never rejects for what a tool, a policy or a caller did wrong.
   *
   * @example
   * const result = await kernel.call("echo", { message: "hello" });
   * if (result.ok) console.log(result.data, result.hash);
   * else console.log(result.error.code, result.error.hint);
   */
  call<Input, Output>(
    tool: ToolPackage<Input, Output>,
    input: Input,
    options: CallOptions & { readonly references: true },
  ): Promise<CallResult<Output | null>>;
  call<Input, Output>(
    tool: ToolPackage<Input, Output>,
    input: Input,
    options?: CallOptions,
  ): Promise<CallResult<Output>>;
  call(tool: string, input: unknown, options?: CallOptions): Promise<CallResult>;
  /**
   * Puts a call that waits into bytes: for an answer of its approver, or for requests to brokers and the calls that it makes. Nothing of it goes on here; who made it gets
   * `SUSPENDED`. What cannot be put aside now is refused, and goes on.
   *
   * @throws TypeError without a `suspender`: a bug of the embedding program.
   * @example
   * const suspension = await kernel.suspend(request.callId);
   * if (suspension.ok) await store.put(request.approvalId, suspension.bytes);
   */
  suspend(callId: string, options?: SuspendOptions): Promise<Suspension>;
  /**
   * Goes on with a suspended call, here or in another process, and gives what comes of it, as `call` would have. The same tool has to be registered, and grants and policy are
   * asked again: it never gets more than it had. Bytes that are not such a call, or that went on before, are `SNAPSHOT_REFUSED`.
   *
   * @throws TypeError without a `suspender`: a bug of the embedding program.
   * @example
   * const result = await kernel.resume(bytes, { approver });
   */
  resume(bytes: Uint8Array, options?: ResumeOptions): Promise<CallResult>;
  /**
   * How a tool is: opens its isolate, or takes the one that the session has, and runs its `setup` and `health` there, without capabilities and within 2 s. Asked by
   * the program itself, so no policy decides about it; the mode does. Both the question and the answer are on record.
   *
   * @throws when the log cannot be written
   *
   * @example
   * const { state } = await kernel.health("word_count");
   */
  health(
    tool: ToolPackage<never, unknown> | string,
    options?: Pick<CallOptions, "version" | "caller" | "sessionId">,
  ): Promise<ToolHealth>;
  /**
   * Whether a tool that says it is `pure` is: runs it with each input on fresh isolates, each with another clock and another seed, and compares what came of it. On
   * record as `purity.asked` and `purity.answered`. One that lies is out of the cache of pure results as long as this kernel lives. A tool can pass and
   * still lie about inputs that were not tried.
   *
   * @param runs Per input; at least 2. Default 3.
   * @example
   * const check = await kernel.verifyPure("word_count", [{ text: "a b" }, { text: "" }]);
   * if (!check.ok && check.kind === "varies") console.error(check.reason, check.hashes);
   */
  verifyPure(tool: ToolPackage<never, unknown> | string, inputs: readonly unknown[], runs?: number): Promise<PureCheck>;
  readonly audit: AuditReader;
  readonly mode: Mode;
  /** Recorded before it takes effect. */
  setMode(mode: Mode, reason: string): Promise<void>;
  readonly policyHash: string;
  /** Replaces the policy for calls that start later. Recorded before it takes effect. */
  setPolicy(document: unknown): Promise<Setup<{ readonly policyHash: string }>>;
  /** Approvals that outlive their call. */
  readonly approvals: {
    /** Oldest first. */
    list(): readonly StandingApproval[];
    /**
     * Ends an approval: an open question is denied, a standing approval forgotten, and a call that runs on it loses its grants, requests in flight
     * included. `false` when there is none. On record when it resolves.
     */
    revoke(approvalId: string, reason: string): Promise<boolean>;
  };
  /** Grants that were taken away from callers, sessions, tools or calls. */
  readonly grants: {
    /** Revocations that stand, oldest first. */
    list(): readonly Revocation[];
    /**
     * Takes grants away, of every kind or of some: from calls that run, requests in flight included, from the calls that those make, and from all that
     * begin before it is restored. Holds at once, and is on record when it resolves. `calls` says how many running ones it reached.
     *
     * @throws TypeError for a match that names nobody: a bug of the embedding program.
     * @example
     * const { revocationId } = await kernel.grants.revoke({ caller: "guest", kinds: ["net.write"] }, "Under review.");
     */
    revoke(match: RevocationMatch, reason: string): Promise<{ readonly revocationId: string; readonly calls: number }>;
    /** For calls that begin later; those that run do not get anything back. `false` when there is none. */
    restore(revocationId: string, reason: string): Promise<boolean>;
  };
  /** Terminates all isolates. Calls in flight end as `ISOLATE_LOST`. */
  close(): Promise<void>;
}
