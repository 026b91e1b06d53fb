import type { EarlierEvents } from "./audit/earlier-events.ts";
import type { AuditReader } from "./audit/reader.ts";
import type { AuditSink } from "./audit/sink.ts";
import type { Broker } from "./capability/broker.ts";
import type { Family } from "./capability/family.ts";
import type { CallOptions, ResumeOptions, SuspendOptions, Suspension } from "./call/arrival/call-options.ts";
import type { Extension } from "./call/extension.ts";
import type { CallSuspender } from "./call/suspension/call-suspender.ts";
import type { Revocation, RevocationMatch } from "./capability/revocation.ts";
import type { SecretKeeper } from "./capability/secret.ts";
import type { Reuse } from "./isolate/pool/slot.ts";
import type { Clock } from "./isolate/clock.ts";
import type { ToolHealth } from "./isolate/health.ts";
import type { KernelHealth } from "./operations/kernel-health.ts";
import type { operations } from "./operations/operations.ts";
import type { PureCheck } from "./isolate/verify-pure.ts";
import type { IsolateHost } from "./isolate/port.ts";
import type { ContentStore } from "./bytes/content-store.ts";
import type { Hash } from "./hash/hash.ts";
import type { CustomNormalizers } from "./normalize/normalizer.ts";
import type { Approver } from "./policy/approval/approval.ts";
import type { Resources } from "./policy/modes/resources.ts";
import type { ModeTrigger } from "./policy/modes/triggers.ts";
import type { StandingApproval } from "./policy/approval/standing-table.ts";
import type { Preview } from "./policy/decision/preview.ts";
import type { checkPolicy } from "./policy/document/load.ts";
import type { Proof } from "./policy/proof/proof.ts";
import type { CallResult, Setup } from "./result.ts";
import type { SchemaParts } from "./schema/types.ts";
import type { Tool } from "./tool/define.ts";
import type { Mode } from "./tool/manifest.ts";
import type { PackageFile, ToolPackage } from "./tool/package.ts";
import type { ToolFilter, ToolSummary } from "./tool/summary.ts";

export type { CallOptions } from "./call/arrival/call-options.ts";

export interface KernelOptions {
  /** Runs `module` tools. Without it only `inline` tools run. */
  readonly host?: IsolateHost;
  /**
   * By name of a tool: the calls that may reuse the memory of its isolate. Default: `session`, so that no session meets the memory of another.
   *
   * @example
   * const kernel = await createKernel({ host, reuse: { run_code: "call" } });
   */
  readonly reuse?: Readonly<Record<string, Reuse>>;
  /** A {@link PolicyDocument}; `policy` fills in its variables. Default: posture strict, no grants. */
  readonly policy?: unknown;
  /** Added to the host's; a broker replaces the host's for its kinds. */
  readonly brokers?: readonly Broker[];
  /** Kinds that the kernel knows beside those of its brokers, extensions and secrets. The kernel refuses a tool, policy or grant that names another kind. */
  readonly families?: Iterable<Family>;
  /** Default: in memory, bounded. */
  readonly sink?: AuditSink;
  /**
   * Whether the kernel reads and verifies the events before the checkpoint at which it opens its
   * log: all of them, each time, beside the calls. Damage leads to LOCKDOWN. It always verifies the
   * events behind the checkpoint, before the first call. A function is told how the reading ended.
   * Default `true`.
   */
  readonly verifyEarlier?: boolean | ((earlier: EarlierEvents) => void);
  /** Keeps the values that the policy says to keep. Without it the kernel refuses such a policy. `contentStore` of `@keyhole/worker-host/content` makes one. */
  readonly content?: ContentStore;
  /** Default: no approver, so every `ask` is a denial. */
  readonly approver?: Approver;
  readonly clock?: Clock;
  /** Default: `NORMAL`. The mode that the log keeps holds where it is stricter. */
  readonly mode?: Mode;
  /** When the mode changes by itself. A log whose last events do not chain always opens in LOCKDOWN. */
  readonly modeTriggers?: readonly ModeTrigger[];
  /** Gauges for `modeTriggers` on space and memory. Default: none. */
  readonly resources?: Resources;
  /** Whether results of `pure` tools that run in isolates may answer equal calls. Default `true`. */
  readonly cache?: boolean;
  /** Values for the placeholders of tools. `secretKeeper` of `@keyhole/kernel/secrets` makes one. Default: none, and the kernel refuses a request with a placeholder. */
  readonly secrets?: SecretKeeper;
  /**
   * Serializes pending calls: {@link Kernel.suspend}. `callSuspender` of `@keyhole/kernel/suspend`
   * makes one.
   */
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

/**
 * A kernel of parts: {@link KernelOptions}, with `extensions` in place of the options that they
 * take.
 */
export interface ComposedKernelOptions extends Omit<
  KernelOptions,
  "approver" | "cache" | "content" | "hash" | "modeTriggers" | "resources" | "suspender"
> {
  readonly hash: Hash;
  /** Algorithms in which a package's own digest may be, beside `hash`. Default: none. `createKernel` takes BLAKE3. */
  readonly packageHashes?: readonly Hash[];
  /**
   * Runs tool objects in the kernel's own realm, without isolation: `inlineHost()` of `@keyhole/kernel/inline`. Default: none, and only packages run. A full kernel
   * has it.
   */
  readonly inline?: IsolateHost;
  /** In the order in which their points are asked. Default: none, and each question of theirs fails closed. */
  readonly extensions?: readonly Extension[];
  /** Parts of the validator of schemas: `formatOf`, `linearPatterns`, and `explain` of `@keyhole/kernel/schema/explain`. Default: those of `families`, and no other. */
  readonly schemaParts?: Partial<SchemaParts>;
  /** The check of policies. Default: none, and the kernel has the strict policy, and refuses every other. */
  readonly checkPolicy?: typeof checkPolicy;
  /** The functions behind `health`, `verifyPure` and `preview`. Default: none, and they reject. */
  readonly operations?: typeof operations;
}

export interface ProofSigner {
  /** When it fails, the result has the unsigned proof and a warning. */
  sign(proof: Proof): Promise<Proof>;
}

/** Which of its isolates a tool is asked in. */
export type HealthOptions = Pick<CallOptions, "version" | "caller" | "sessionId">;

/** The kernel as a program sees it. */
export interface Kernel {
  /** Checks a package and makes it callable. Its code runs in an isolate. A tool object is refused with `UNTRUSTED_TOOL`. */
  register(pkg: ToolPackage | PackageFile): Setup<ToolSummary>;
  /**
   * Checks a tool object and makes it callable **without isolation**: its code can do all that the kernel's own program can do.
   *
   * @param source where the tool comes from. A name belongs to one source, or to the program, in all versions: what another one registers under it is refused. Default: the program.
   */
  registerTrusted(tool: Tool<never, unknown>, source?: object): Setup<ToolSummary>;
  /**
   * Takes away the tool of an id, `name@version`; `false` when there is none. Holds at once, and is on record when it resolves. Calls that run finish, and their
   * isolates end with them; calls that wait and suspended ones do not start. Approvals of it end, results under idempotency keys are forgotten, and the id is free again.
   *
   * @throws when the sink fails
   * @example
   * await kernel.unregister("read_file@1.0.0");
   */
  unregister(id: string): Promise<boolean>;
  /** Sorted by name, then by version, highest first. */
  list(filter?: ToolFilter): readonly ToolSummary[];
  /**
   * Calls a listener when {@link list} may give something else than before: a tool was registered or unregistered, or policy, mode or revocations changed. Returns the way
   * to stop.
   *
   * @example
   * const stop = kernel.onToolsChange(() => show(kernel.list({ caller: "agent" })));
   */
  onToolsChange(listener: () => void): () => void;
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
  /** For a variable that holds a name or a package. The function takes no package alone: its input would go unchecked. */
  call<Tool extends string | ToolPackage>(
    tool: Tool & (string extends Tool ? unknown : never),
    input: unknown,
    options?: CallOptions,
  ): Promise<CallResult>;
  /**
   * The decision of a call with these options, if it were made now, in the same way. It runs,
   * records and counts nothing, asks no approver and reads no secret. It does not cover free slots,
   * `callsPerHour`, the state of the idempotency key, or the requests of the running tool. Never
   * rejects.
   *
   * @example
   * const preview = await kernel.preview("write_file", input, { caller: "agent" });
   * if (preview.decision === "ask") show(preview.question);
   */
  preview<Input>(tool: ToolPackage<Input, unknown>, input: Input, options?: CallOptions): Promise<Preview>;
  preview(tool: string, input: unknown, options?: CallOptions): Promise<Preview>;
  /**
   * Serializes a call that waits: for its approver, for requests to brokers, or for its nested
   * calls. No part of the call continues here; its caller gets `SUSPENDED`. A call that cannot be
   * suspended now continues, and the result names the reason.
   *
   * Without suspension the result is `SUSPENSION_UNAVAILABLE`.
   *
   * @example
   * const suspension = await kernel.suspend(request.callId);
   * if (suspension.ok) await store.put(request.approvalId, suspension.bytes);
   */
  suspend(callId: string, options?: SuspendOptions): Promise<Suspension>;
  /**
   * Resumes a suspended call, here or in another process, and returns its result, as `call` would
   * have. The kernel needs the same tool. Grants and policy apply again: the call never gets
   * more than it had. Other bytes, and bytes that were resumed before, are `SNAPSHOT_REFUSED`.
   *
   * Without suspension the result is `SUSPENSION_UNAVAILABLE`.
   *
   * @example
   * const result = await kernel.resume(bytes, { approver });
   */
  resume(bytes: Uint8Array, options?: ResumeOptions): Promise<CallResult>;
  /**
   * How the kernel is: whether it serves calls, its mode, its log, and which tools are in quarantine. Runs and records nothing.
   *
   * @example
   * const { state, reasons, log } = await kernel.health();
   * if (log.isVolatile) console.warn("Limits and revocations end with this process.");
   */
  health(): Promise<KernelHealth>;
  /**
   * How a tool is: opens its isolate, or takes the one that the session has, and runs its `setup` and `health` there, without capabilities and within 2 s. Asked by
   * the program itself, so no policy decides about it; the mode does. Both the question and the answer are on record.
   *
   * @throws when the sink fails
   *
   * @example
   * const { state } = await kernel.health("word_count");
   */
  health(tool: ToolPackage | string, options?: HealthOptions): Promise<ToolHealth>;
  /**
   * Checks a tool that claims to be `pure`: runs it with each input on fresh isolates, each with
   * another clock and another seed, and compares the outcomes. On record as `purity.asked` and
   * `purity.answered`. An impure tool is out of the cache for the life of this kernel. A tool can
   * pass and be impure for other inputs.
   *
   * @param runs per input, at least 2; default 3
   * @example
   * const check = await kernel.verifyPure("word_count", [{ text: "a b" }, { text: "" }]);
   * if (!check.ok && check.kind === "varies") console.error(check.reason, check.hashes);
   */
  verifyPure(tool: ToolPackage | string, inputs: readonly unknown[], runs?: number): Promise<PureCheck>;
  readonly audit: AuditReader;
  readonly mode: Mode;
  /**
   * The log records a milder mode before it takes effect. A stricter one holds at once, and ends the running calls that it denies. The mode outlives the kernel.
   *
   * @param author the person or token that asked for it, for the record. Default: the program itself
   */
  setMode(mode: Mode, reason: string, author?: string): Promise<void>;
  readonly policyHash: string;
  /** Replaces the policy for calls that start later, by a document. Recorded before it takes effect. */
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
  /** Grants that an operator revoked from callers, sessions, tools or calls. */
  readonly grants: {
    /** Revocations that stand, oldest first. */
    list(): readonly Revocation[];
    /**
     * Revokes grants, of every kind or of some: from running calls with their requests in progress
     * and nested calls, and from later calls until a restore. Takes effect immediately, and is on
     * record when it resolves. `calls` is the number of running calls that it reached. Calls of
     * trusted tools that need such a grant end.
     *
     * @throws TypeError for an empty match: a bug of the embedding program
     * @example
     * const { revocationId } = await kernel.grants.revoke({ caller: "guest", kinds: ["net.write"] }, "Under review.");
     */
    revoke(match: RevocationMatch, reason: string): Promise<{ readonly revocationId: string; readonly calls: number }>;
    /** For calls that begin later; those that run do not get anything back. `false` when there is none. */
    restore(revocationId: string, reason: string): Promise<boolean>;
  };
  /** Terminates all isolates. Calls in flight end as `ISOLATE_LOST`. Closes the sink behind the last event. */
  close(): Promise<void>;
}
