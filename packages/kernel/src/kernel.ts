import { AuditLog } from "./audit/log.ts";
import { memorySink } from "./audit/memory-sink.ts";
import type { AuditReader } from "./audit/reader.ts";
import { kernelScope } from "./audit/scope.ts";
import { Limiter } from "./bounds/limiter.ts";
import { Results } from "./call/cache.ts";
import { openCall } from "./call/call.ts";
import type { CallOptions, ResumeOptions, SuspendOptions, Suspension } from "./call/call-options.ts";
import { checkHealth } from "./call/health.ts";
import { Keys } from "./call/keys.ts";
import type { CallSuspender } from "./call/live.ts";
import { checkKeeping } from "./call/keep.ts";
import { checkPurity } from "./call/purity.ts";
import { Steps } from "./call/steps.ts";
import { readMatch, Revocations } from "./capability/revocation.ts";
import { uuidv7 } from "./id/uuid.ts";
import { systemClock, type Clock } from "./isolate/clock.ts";
import { inlineHost } from "./isolate/inline.ts";
import type { PureCheck } from "./isolate/verify-pure.ts";
import { IsolatePool, type PoolOptions, type Reuse } from "./isolate/pool.ts";
import type { ToolHealth } from "./isolate/health.ts";
import { hostOf, type IsolateHost } from "./isolate/port.ts";
import type { Kernel, KernelOptions, ProofSigner } from "./kernel-api.ts";
import { limits } from "./limits.ts";
import type { ContentStore } from "./normalize/content.ts";
import { blake3Hash, type Hash } from "./normalize/hash.ts";
import { Approvals } from "./policy/approvals.ts";
import { Counters } from "./policy/counters.ts";
import { defaultPolicy, loadPolicy, type Policy } from "./policy/load.ts";
import { ModeTriggers } from "./policy/mode-manager.ts";
import { isStricter } from "./tool/modes.ts";
import { SessionLabels } from "./policy/session-labels.ts";
import type { PolicyVariables } from "./policy/variables.ts";
import type { CallResult, Setup } from "./result.ts";
import { type Mode, modes } from "./tool/manifest.ts";
import type { ToolPackage } from "./tool/package.ts";
import { Registry, summaryOf } from "./tool/registry.ts";
import type { ToolFilter, ToolSummary } from "./tool/summary.ts";

/**
 * Opens a kernel: its log goes on where the sink ends, and calls that a crash left open are closed as lost.
 *
 * @throws TypeError when the policy is invalid: the embedding program's own document is wrong. Check foreign ones with {@link loadPolicy}.
 * @throws whatever the sink throws when it cannot be read.
 */
export async function createKernel(options: KernelOptions = {}): Promise<Kernel> {
  const { hash = blake3Hash } = options;
  const policy = checkKeeping(
    loadPolicy(options.policy ?? defaultPolicy, options.policyVariables, hash),
    options.content,
  );
  if (!policy.ok) {
    const { code, path, message, hint } = policy.error;
    throw new TypeError([`${code} at ${path || "the root"}: ${message}`, hint].join(" ").trim());
  }
  const clock = options.clock ?? systemClock;
  const log = await AuditLog.open(options.sink ?? memorySink(), clock, hash);
  const kernel = new KernelImplementation(options, policy.value, log, clock, hash);
  if (log.damage !== null) await kernel.setMode("LOCKDOWN", `The log was tampered with. ${log.damage}`);
  return kernel;
}

class KernelImplementation implements Kernel {
  readonly #registry: Registry;
  readonly #hash: Hash;
  readonly #results: Results | undefined;
  readonly #hosts: readonly IsolateHost[];
  readonly #pools: ReadonlyMap<IsolateHost, IsolatePool>;
  readonly #approvals: Approvals;
  readonly #revocations = new Revocations();
  readonly #triggers: ModeTriggers;
  readonly #variables: PolicyVariables | undefined;
  readonly #signer: ProofSigner | undefined;
  readonly #content: ContentStore | undefined;
  readonly #suspender: CallSuspender | undefined;
  readonly #clock: Clock;
  readonly #log: AuditLog;
  readonly #steps: Steps;
  #policy: Policy;
  #mode: Mode;
  /** What the log says last. A stricter one can hold already. */
  #recordedMode: Mode;
  /** Asked for, and not yet on record. */
  readonly #modesAhead: Mode[] = [];
  #lastChange: Promise<unknown> = Promise.resolve();

  constructor(
    {
      host,
      brokers = [],
      approver,
      mode = "NORMAL",
      modeTriggers = [],
      policyVariables,
      cache = true,
      signer,
      secrets,
      content,
      suspender,
      reuse = {},
      normalizers = new Map(),
    }: KernelOptions,
    policy: Policy,
    log: AuditLog,
    clock: Clock,
    hash: Hash,
  ) {
    this.#hash = hash;
    this.#results = cache ? new Results() : undefined;
    this.#hosts = host ? [host, inlineHost()] : [inlineHost()];
    this.#registry = new Registry(hash, normalizers, (tool) => hostOf(tool, this.#hosts)?.check?.(tool));
    const reuses = new Map(Object.entries(reuse));
    const reuseOf = (tool: string): Reuse => reuses.get(tool) ?? "session";
    const onQuarantine: PoolOptions["onQuarantine"] = ({ id, hash }, caller, { failures, restMs }) =>
      log.record("tool.quarantined", kernelScope, { tool: id, toolHash: hash, caller, failures, restMs });
    this.#pools = new Map(this.#hosts.map((each) => [each, new IsolatePool(each, clock, { reuseOf, onQuarantine })]));
    this.#approvals = new Approvals(clock);
    this.#triggers = new ModeTriggers(modeTriggers, clock);
    this.#variables = policyVariables;
    this.#signer = signer;
    this.#content = content;
    this.#suspender = suspender;
    this.#clock = clock;
    this.#log = log;
    this.#policy = policy;
    this.#mode = knownMode(mode);
    this.#recordedMode = this.#mode;
    const all = [...(host?.brokers ?? []), ...brokers];
    this.#steps = new Steps({
      registry: this.#registry,
      hosts: this.#hosts,
      pools: this.#pools,
      brokers: new Map(all.flatMap((broker) => broker.kinds.map((kind) => [kind, broker] as const))),
      secrets,
      revocations: this.#revocations,
      approver,
      approvals: this.#approvals,
      policyState: { counters: new Counters(clock), labels: new SessionLabels() },
      limiter: new Limiter(clock),
      keys: new Keys(clock, hash, log.usedKeys),
      results: this.#results,
      log,
      content,
      suspender,
      clock,
      hash,
      authority: () => ({ policy: this.#policy, mode: this.#mode }),
      ended: (result, hasStarted) => this.#watch(result, hasStarted),
    });
  }

  register(pkg: unknown): Setup<ToolSummary> {
    return this.#register(pkg, "package");
  }

  registerTrusted(tool: unknown): Setup<ToolSummary> {
    return this.#register(tool, "tool");
  }

  #register(foreign: unknown, trust: "package" | "tool"): Setup<ToolSummary> {
    const added = this.#registry.add(foreign, trust);
    if (!added.ok) return added;
    const { id, hash } = added.value;
    // Made durable together with the first event of the first call: a registration alone does nothing.
    this.#log.record("tool.registered", kernelScope, { tool: id, toolHash: hash });
    return { ok: true, value: summaryOf(added.value) };
  }

  list(filter?: ToolFilter): readonly ToolSummary[] {
    const quarantined = new Map([...this.#pools.values()].flatMap((pool) => [...pool.quarantined]));
    return this.#registry.list(filter).map((summary) => {
      const quarantine = quarantined.get(summary.hash);
      return quarantine ? { ...summary, quarantine } : summary;
    });
  }

  async health(
    tool: string | ToolPackage<never, unknown>,
    { version, caller, sessionId }: Pick<CallOptions, "version" | "caller" | "sessionId"> = {},
  ): Promise<ToolHealth> {
    // Not the whole of the options: they may be those of a call, whose streams are not ours.
    const call = openCall(tool, { version, caller, sessionId }, this.#clock, this.#hash);
    const parts = { registry: this.#registry, hosts: this.#hosts, pools: this.#pools, mode: this.#mode };
    return checkHealth(call, { ...parts, log: this.#log, clock: this.#clock });
  }

  verifyPure(
    tool: string | ToolPackage<never, unknown>,
    inputs: readonly unknown[],
    runs?: number,
  ): Promise<PureCheck> {
    const parts = { registry: this.#registry, hosts: this.#hosts, pools: this.#pools, mode: this.#mode };
    const call = openCall(tool, {}, this.#clock, this.#hash);
    return checkPurity(call, inputs, runs, { ...parts, log: this.#log, clock: this.#clock, results: this.#results });
  }

  async call(
    tool: string | { readonly manifest: { readonly name: string; readonly version: string } },
    input: unknown,
    options: CallOptions = {},
  ): Promise<CallResult<never>> {
    const call = openCall(tool, options, this.#clock, this.#hash);
    const result = await this.#steps.take(call, input);
    return (this.#signer ? await this.#signed(result, this.#signer) : result) as CallResult<never>;
  }

  async suspend(callId: string, options: SuspendOptions = {}): Promise<Suspension> {
    return this.#requireSuspender().suspend(callId, options);
  }

  async resume(bytes: Uint8Array, options: ResumeOptions = {}): Promise<CallResult> {
    const result = await this.#requireSuspender().resume(bytes, options, this.#steps);
    return this.#signer ? this.#signed(result, this.#signer) : result;
  }

  #requireSuspender(): CallSuspender {
    if (!this.#suspender) throw new TypeError("Give createKernel a `suspender`.");
    return this.#suspender;
  }

  /** Tells the mode's triggers how a call ended. A stricter mode holds at once; the record follows with the next flush at the latest. */
  #watch(result: CallResult, hasStarted: boolean): void | Promise<void> {
    const code = result.ok ? undefined : result.error.code;
    const fired = this.#triggers.ended(this.#mode, code, hasStarted);
    // When the log cannot be written, nothing runs any more: stricter than any mode.
    return fired && this.setMode(fired.to, fired.reason).catch(() => {});
  }

  async #signed(result: CallResult, signer: ProofSigner): Promise<CallResult> {
    if (!result.proof) return result;
    try {
      return { ...result, proof: await signer.sign(result.proof) };
    } catch {
      const warnings = [...result.meta.warnings, "The proof could not be signed."];
      return { ...result, meta: { ...result.meta, warnings } };
    }
  }

  get audit(): AuditReader {
    const log = this.#log;
    return {
      get writable() {
        return log.writable;
      },
      read: (fromSeq = 0, limit = limits.memoryEvents) => log.read(fromSeq, limit),
      subscribe: (listener) => log.subscribe(listener),
    };
  }

  get approvals(): Kernel["approvals"] {
    return {
      list: () => this.#approvals.list(),
      revoke: async (approvalId, reason) => {
        if (!this.#approvals.revoke(approvalId)) return false;
        const why = `Revoked: ${reason}`.slice(0, 500).toWellFormed();
        this.#log.record("approval.resolved", kernelScope, { approvalId, answer: "deny", approver: "", reason: why });
        await this.#log.flush();
        return true;
      },
    };
  }

  get grants(): Kernel["grants"] {
    return {
      list: () => this.#revocations.list(),
      revoke: async (foreign, reason) => {
        const match = readMatch(foreign);
        const revocationId = uuidv7(this.#clock.now());
        const why = reason.slice(0, 500).toWellFormed();
        const calls = this.#revocations.revoke({ revocationId, match, reason: why });
        this.#log.record("grant.revoked", kernelScope, { revocationId, match: { ...match }, reason: why, calls });
        await this.#log.flush();
        return { revocationId, calls };
      },
      restore: async (revocationId, reason) => {
        if (!this.#revocations.list().some((each) => each.revocationId === revocationId)) return false;
        const why = reason.slice(0, 500).toWellFormed();
        this.#log.record("grant.restored", kernelScope, { revocationId, reason: why });
        await this.#log.flush();
        return this.#revocations.restore(revocationId);
      },
    };
  }

  get mode(): Mode {
    return this.#mode;
  }

  async setMode(mode: Mode, reason: string): Promise<void> {
    // What tightens holds at once; what loosens waits for the record, and for stricter ones that were asked for meanwhile.
    if (isStricter(knownMode(mode), this.#mode)) this.#mode = mode;
    this.#modesAhead.push(mode);
    await this.#inTurn(async () => {
      try {
        const previous = this.#recordedMode;
        this.#recordedMode = mode;
        this.#log.record("mode.changed", kernelScope, { mode, previous, reason: reason.slice(0, 500).toWellFormed() });
        await this.#log.flush();
        this.#mode = this.#modesAhead.reduce(
          (strictest, each) => (isStricter(each, strictest) ? each : strictest),
          mode,
        );
      } finally {
        this.#modesAhead.shift();
      }
    });
  }

  /** Changes of mode and policy, one after the other: a slow sink never lets two of them interleave. */
  #inTurn<Result>(change: () => Promise<Result>): Promise<Result> {
    const turn = this.#lastChange.then(change);
    this.#lastChange = turn.catch(() => {});
    return turn;
  }

  get policyHash(): string {
    return this.#policy.hash;
  }

  async setPolicy(document: unknown): Promise<Setup<{ readonly policyHash: string }>> {
    const policy = checkKeeping(loadPolicy(document, this.#variables, this.#hash), this.#content);
    if (!policy.ok) return policy;
    const policyHash = policy.value.hash;
    return this.#inTurn(async () => {
      this.#log.record("policy.changed", kernelScope, { policyHash, previousHash: this.#policy.hash });
      await this.#log.flush();
      this.#policy = policy.value;
      return { ok: true, value: { policyHash } };
    });
  }

  async close(): Promise<void> {
    for (const pool of this.#pools.values()) pool.close();
    await Promise.all(this.#hosts.map((host) => host.close()));
  }
}

/** @throws TypeError for a mode that there is none of: a bug of the embedding program. */
function knownMode(mode: Mode): Mode {
  if (modes.includes(mode)) return mode;
  throw new TypeError(`There is no mode ${JSON.stringify(mode)}: ${modes.join(", ")}.`);
}
