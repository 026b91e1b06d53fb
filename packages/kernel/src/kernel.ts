import { AuditLog } from "./audit/log.ts";
import { memorySink } from "./audit/memory-sink.ts";
import { type AuditReader, readerOf } from "./audit/reader.ts";
import { kernelScope } from "./audit/scope.ts";
import type { CallOptions, ResumeOptions, SuspendOptions, Suspension } from "./call/arrival/call-options.ts";
import { openCall, openRead } from "./call/arrival/open-call.ts";
import type { CallRecord, Parent } from "./call/record/record.ts";
import { close, type Core, perform, refuse } from "./call/pipeline.ts";
import { unanswered } from "./call/questions.ts";
import { takeSlotAgain } from "./call/steps/reserve.ts";
import { nextAttempt } from "./call/steps/start.ts";
import { type Composed, composeExtensions, type ExtensionContext } from "./call/extension.ts";
import { type Clock, systemClock } from "./isolate/clock.ts";
import type { PureCheck } from "./isolate/verify-pure.ts";
import type { IsolatePool } from "./isolate/pool/pool.ts";
import type { ToolHealth } from "./isolate/health.ts";
import type { IsolateHost } from "./isolate/port.ts";
import { hostOf } from "./isolate/port.ts";
import type { HealthOptions, ComposedKernelOptions, Kernel, ProofSigner } from "./kernel-api.ts";
import type { Hash } from "./hash/hash.ts";
import { AuthorityState } from "./operations/authority.ts";
import type { KernelHealth } from "./operations/kernel-health.ts";
import { Watchers } from "./operations/watchers.ts";
import { lockOnDamage } from "./operations/lock-on-damage.ts";
import { listTools } from "./operations/list-tools.ts";
import { openPools } from "./operations/open-pools.ts";
import { GoverningState } from "./operations/governing-state.ts";
import { GrantRevocations } from "./operations/revoke-grants.ts";
import { type OwnKernelOptions, readComposedOptions } from "./own-options.ts";
import { signProof } from "./operations/sign-proof.ts";
import { unregister } from "./operations/unregister.ts";
import type { Policy } from "./policy/document/make.ts";
import { refusalText } from "./policy/document/invalid.ts";
import { type PolicyReading, takePolicy } from "./policy/document/take.ts";
import type { Preview } from "./policy/decision/preview.ts";
import type { CallResult, Setup } from "./result.ts";
import type { Mode } from "./tool/manifest.ts";
import type { ToolPackage } from "./tool/package.ts";
import { Registry, summaryOf } from "./tool/registry.ts";
import type { ToolFilter, ToolSummary } from "./tool/summary.ts";

/**
 * A kernel with the extensions that are given, and no other. The question of an extension that is missing fails closed: an `ask` ends as
 * `APPROVAL_UNAVAILABLE`, a call with a key as `IDEMPOTENCY_UNAVAILABLE`, a snapshot as `SUSPENSION_UNAVAILABLE`. Without `checkPolicy` it
 * takes no policy but the default one. {@link createKernel} has them all.
 *
 * @throws TypeError when the policy or another option is invalid, or two extensions answer one question: bugs of the embedding program.
 * @throws the sink's error, if the log cannot be read.
 * @example
 * const kernel = await composeKernel({ host, policy, hash: sha256Hash, checkPolicy, extensions: [approvals(approver)] });
 */
export async function composeKernel(foreign: ComposedKernelOptions): Promise<Kernel> {
  const options = readComposedOptions(foreign);
  const composed = composeExtensions(options.extensions ?? []);
  const policy = takePolicy(options.policy, { ...options, ...composed.services });
  if (!policy.ok) throw new TypeError(refusalText(policy.error));
  const { clock = systemClock } = options;
  const state = new GoverningState(clock);
  const tables = [...state.tables, ...composed.tables];
  const { sink = memorySink(), hash } = options;
  const log = await AuditLog.open({ sink, clock, hash, tables, steady: state.steady });
  const kernel = new KernelImplementation(options, { composed, policy: policy.value, log, clock, state });
  await lockOnDamage(log, kernel, options.verifyEarlier);
  return kernel;
}

interface KernelParts {
  readonly composed: Composed;
  readonly policy: Policy;
  readonly log: AuditLog;
  readonly clock: Clock;
  readonly state: GoverningState;
}

class KernelImplementation implements Kernel {
  readonly #registry: Registry;
  readonly #hash: Hash;
  readonly #families: Policy["families"];
  readonly #hosts: readonly IsolateHost[];
  readonly #pools: ReadonlyMap<IsolateHost, IsolatePool>;
  readonly #composed: Composed;
  readonly #authority: AuthorityState;
  readonly #state: GoverningState;
  readonly grants: Kernel["grants"];
  readonly #reading: PolicyReading;
  readonly #signer: ProofSigner | undefined;
  readonly #clock: Clock;
  readonly #log: AuditLog;
  readonly #core: Core;
  readonly #toolWatchers = new Watchers();
  readonly #operations: OwnKernelOptions["operations"];

  constructor(options: OwnKernelOptions, { composed, policy, log, clock, state }: KernelParts) {
    const { hash, packageHashes = [], families, extensions = [], hosts, mode, reuse } = options;
    const { normalizers = new Map() } = options;
    this.#hash = hash;
    this.#families = families;
    this.#hosts = hosts;
    this.#registry = new Registry({
      hash,
      packageHashes,
      families,
      normalizers,
      faultOf: (tool) => hostOf(tool, this.#hosts)?.check?.(tool),
    });
    this.#state = state;
    this.#composed = composed;
    this.#reading = { ...options, ...composed.services };
    this.#signer = options.signer;
    this.#operations = options.operations;
    this.#clock = clock;
    this.#log = log;
    this.#pools = openPools(hosts, { clock, log, backoff: state.backoff, reuse });
    const tighten = (to: Mode): void => state.revocations.tighten(to);
    this.#authority = new AuthorityState(policy, mode, state.modes.table, log, tighten, composed.onAuthority);
    this.grants = new GrantRevocations(state.revocations, log, clock, families.kinds, this.#toolWatchers);
    this.#core = this.#openCore(options);
    const context = this.#contextOf(this.#core);
    for (const extension of extensions) extension.open?.(context);
  }

  #openCore({ brokers, secrets }: OwnKernelOptions): Core {
    const { points, honoured } = this.#composed;
    const { revocations, backoff, counters, labels, limiter } = this.#state;
    return {
      honoured,
      registry: this.#registry,
      hosts: this.#hosts,
      pools: this.#pools,
      backoff,
      brokers,
      secrets,
      revocations,
      counters,
      labels,
      limiter,
      log: this.#log,
      clock: this.#clock,
      authority: () => this.#authority.now,
      points,
      ask: points.ask,
      brokersOf: points.brokersOf,
      onRun: points.onRun,
      beforeReuse: points.beforeReuse,
    };
  }

  #contextOf(core: Core): ExtensionContext {
    const { log, clock, registry, hosts, backoff, labels, authority, points } = core;
    const { steady } = this.#state;
    const [hash, families] = [this.#hash, this.#families];
    const lent = { log, clock, steady, hash, families, registry, hosts, backoff, labels, authority, points };
    return {
      ...lent,
      setMode: (mode, reason) => this.setMode(mode, reason),
      openCall: (toolName, options, parent) => this.#open(toolName, options, parent),
      openRead: (read) => openRead({ name: "" }, read, clock, lent.hash),
      perform: (call, entry) => perform(call, entry, core),
      close: (call, fault) => close(call, fault, core),
      refuse: (call, fault) => refuse(call, fault, core),
      nextAttempt: (started) => nextAttempt(started, core),
      takeSlotAgain: (call, tool, bounds) => takeSlotAgain(call, tool, bounds, core),
    };
  }

  #open(tool: unknown, options: unknown, parent?: Parent): CallRecord {
    return openCall(tool, options, this.#clock, this.#hash, this.#families, parent);
  }

  register(pkg: unknown): Setup<ToolSummary> {
    return this.#register(pkg, "package");
  }

  registerTrusted(tool: unknown, source?: object): Setup<ToolSummary> {
    return this.#register(tool, "tool", source);
  }

  #register(foreign: unknown, trust: "package" | "tool", source?: object): Setup<ToolSummary> {
    const added = this.#registry.add(foreign, trust, source);
    if (!added.ok) return added;
    const { id, hash } = added.value;
    // Made durable together with the first event of the first call: a registration alone does nothing.
    this.#log.record("tool.registered", kernelScope, { tool: id, toolHash: hash });
    this.#toolWatchers.notify();
    return { ok: true, value: summaryOf(added.value) };
  }

  unregister(id: string): Promise<boolean> {
    const { onUnregister } = this.#composed;
    return this.#toolWatchers.after(unregister(id, { ...this.#core, onUnregister }));
  }

  list(filter?: ToolFilter): readonly ToolSummary[] {
    return listTools(filter, this.#core);
  }

  onToolsChange(listener: () => void): () => void {
    return this.#toolWatchers.add(listener);
  }

  health(): Promise<KernelHealth>;
  health(tool: ToolPackage<never, unknown> | string, options?: HealthOptions): Promise<ToolHealth>;
  async health(tool?: string | ToolPackage<never, unknown>, options: HealthOptions = {}): Promise<unknown> {
    const { kernelHealth, checkHealth, healthOptions } = given(this.#operations);
    if (tool === undefined) return kernelHealth(this.#core);
    const call = this.#open(tool, healthOptions(options));
    return checkHealth(call, this.#core);
  }

  async verifyPure(
    tool: string | ToolPackage<never, unknown>,
    inputs: readonly unknown[],
    runs?: number,
  ): Promise<PureCheck> {
    const { distrust } = this.#composed.services;
    const { checkPurity } = given(this.#operations);
    const call = this.#open(tool, {});
    return checkPurity(call, inputs, runs, { ...this.#core, distrust });
  }

  async call(
    tool: string | { readonly manifest: { readonly name: string; readonly version: string } },
    input: unknown,
    options: CallOptions = {},
  ): Promise<CallResult<never>> {
    const call = this.#open(tool, options);
    const result = await perform(call, { phase: "arrival", input }, this.#core);
    return (this.#signer ? await signProof(result, this.#signer) : result) as CallResult<never>;
  }

  async preview(tool: unknown, input: unknown, options: CallOptions = {}): Promise<Preview> {
    const { preview, previewOptions } = given(this.#operations);
    const call = this.#open(tool, previewOptions(options));
    return preview(call, input, { ...this.#core, foresee: this.#composed.services.foresee });
  }

  async suspend(callId: string, options: SuspendOptions = {}): Promise<Suspension> {
    const { suspension } = this.#composed.services;
    if (suspension) return suspension.suspend(callId, options);
    return { ok: false, error: noSuspension };
  }

  async resume(bytes: Uint8Array, options: ResumeOptions = {}): Promise<CallResult> {
    const { suspension } = this.#composed.services;
    if (!suspension) return refuse(this.#open("", options), unanswered("suspension"), this.#core);
    const result = await suspension.resume(bytes, options);
    return this.#signer ? signProof(result, this.#signer) : result;
  }

  get audit(): AuditReader {
    return readerOf(this.#log);
  }

  get approvals(): Kernel["approvals"] {
    return this.#composed.services.approvals ?? noApprovals;
  }

  get mode(): Mode {
    return this.#authority.now.mode;
  }

  setMode(...change: Parameters<Kernel["setMode"]>): Promise<void> {
    return this.#toolWatchers.after(this.#authority.setMode(...change));
  }

  get policyHash(): string {
    return this.#authority.now.policy.hash;
  }

  async setPolicy(document: unknown): Promise<Setup<{ readonly policyHash: string }>> {
    const policy = takePolicy(document ?? null, this.#reading);
    if (!policy.ok) return policy;
    await this.#toolWatchers.after(this.#authority.setPolicy(policy.value));
    return { ok: true, value: { policyHash: policy.value.hash } };
  }

  async close(): Promise<void> {
    await this.#log.close(() => {
      for (const pool of this.#pools.values()) pool.close();
      return Promise.all(this.#hosts.map((host) => host.close()));
    });
  }
}

/** @throws TypeError where the embedding program left them out */
function given(operations: OwnKernelOptions["operations"]): ReturnType<NonNullable<typeof operations>> {
  if (operations) return operations();
  throw new TypeError("This kernel has no health, verifyPure and preview: give composeKernel `operations`.");
}

const noSuspension = {
  code: "SUSPENSION_UNAVAILABLE",
  message: "This kernel suspends no calls.",
  hint: "Add callSuspender({ key }) to `extensions`, or give it to createKernel as `suspender`.",
} as const;

const noApprovals: Kernel["approvals"] = { list: () => [], revoke: async () => false };
