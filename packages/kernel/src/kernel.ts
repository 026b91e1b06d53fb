import { AuditLog, AuditUnavailable } from "./audit/log.ts";
import { memorySink } from "./audit/memory-sink.ts";
import { kernelScope } from "./audit/scope.ts";
import { Limiter } from "./bounds/limiter.ts";
import { resolve, type Resolved, validateInput } from "./call/admit.ts";
import { type ApprovalPorts, approve, type Edited, lapsed } from "./call/approve.ts";
import { type Authority, checkCapabilities, decidePolicy, type PolicyState } from "./call/authorize.ts";
import { type Call, openCall, type Step, type Stop, stop } from "./call/call.ts";
import { normalizeOutput, validateOutput } from "./call/conclude.ts";
import { recordStart, reserveBounds, run, type Started } from "./call/execute.ts";
import { errorOf, failed, succeeded } from "./call/finish.ts";
import type { Broker } from "./capability/broker.ts";
import type { CapabilityKind } from "./capability/capability.ts";
import { systemClock, type Clock } from "./isolate/clock.ts";
import { inlineHost } from "./isolate/inline.ts";
import { IsolatePool } from "./isolate/pool.ts";
import type { IsolateHost } from "./isolate/port.ts";
import type {
  AuditReader,
  CallOptions,
  Kernel,
  KernelOptions,
  ProofSigner,
  ToolFilter,
  ToolSummary,
} from "./kernel-api.ts";
import { limits } from "./limits.ts";
import { hashJsonOrFault } from "./normalize/hash.ts";
import type { Approver } from "./policy/approval.ts";
import { Approvals, type Hold } from "./policy/approvals.ts";
import { Counters } from "./policy/counters.ts";
import { defaultPolicy, loadPolicy, type Policy } from "./policy/load.ts";
import { isStricter, ModeTriggers } from "./policy/mode-manager.ts";
import type { Proof } from "./policy/proof.ts";
import { SessionLabels } from "./policy/session-labels.ts";
import type { PolicyVariables } from "./policy/variables.ts";
import type { CallFailure, CallResult, Setup } from "./result.ts";
import { type Mode, modes } from "./tool/manifest.ts";
import { Registry } from "./tool/registry.ts";

/**
 * Opens a kernel: its log goes on where the sink ends, and calls that a crash left open are closed as lost.
 *
 * @throws TypeError when the policy is invalid: the embedding program's own document is wrong. Check foreign ones with {@link loadPolicy}.
 * @throws whatever the sink throws when it cannot be read.
 */
export async function createKernel(options: KernelOptions = {}): Promise<Kernel> {
  const policy = loadPolicy(options.policy ?? defaultPolicy, options.policyVariables);
  if (!policy.ok) {
    const { code, path, message, hint } = policy.error;
    throw new TypeError([`${code} at ${path || "the root"}: ${message}`, hint].join(" ").trim());
  }
  const clock = options.clock ?? systemClock;
  const log = await AuditLog.open(options.sink ?? memorySink(), clock);
  const kernel = new KernelImplementation(options, policy.value, log, clock);
  if (log.damage !== null) await kernel.setMode("LOCKDOWN", `The log was tampered with. ${log.damage}`);
  return kernel;
}

class KernelImplementation implements Kernel {
  readonly #registry = new Registry();
  readonly #hosts: readonly IsolateHost[];
  readonly #pools: ReadonlyMap<IsolateHost, IsolatePool>;
  readonly #brokers: ReadonlyMap<CapabilityKind, Broker>;
  readonly #approver: Approver | undefined;
  readonly #approvals: Approvals;
  readonly #state: PolicyState;
  readonly #triggers: ModeTriggers;
  readonly #variables: PolicyVariables | undefined;
  readonly #signer: ProofSigner | undefined;
  readonly #clock: Clock;
  readonly #limiter: Limiter;
  readonly #log: AuditLog;
  #policy: Policy;
  #mode: Mode;

  constructor(
    { host, brokers = [], approver, mode = "NORMAL", modeTriggers = [], policyVariables, signer }: KernelOptions,
    policy: Policy,
    log: AuditLog,
    clock: Clock,
  ) {
    this.#hosts = host ? [host, inlineHost()] : [inlineHost()];
    this.#pools = new Map(this.#hosts.map((each) => [each, new IsolatePool(each, clock)]));
    const all = [...(host?.brokers ?? []), ...brokers];
    this.#brokers = new Map(all.flatMap((broker) => broker.kinds.map((kind) => [kind, broker] as const)));
    this.#approver = approver;
    this.#clock = clock;
    this.#limiter = new Limiter(clock);
    this.#approvals = new Approvals(clock);
    this.#state = { counters: new Counters(clock), labels: new SessionLabels() };
    this.#triggers = new ModeTriggers(modeTriggers, clock);
    this.#variables = policyVariables;
    this.#signer = signer;
    this.#log = log;
    this.#policy = policy;
    this.#mode = knownMode(mode);
  }

  register(tool: unknown): Setup<ToolSummary> {
    const added = this.#registry.add(tool);
    if (!added.ok) return added;
    const { id, hash, manifest } = added.value;
    // Made durable together with the first event of the first call: a registration alone does nothing.
    this.#log.record("tool.registered", kernelScope, { tool: id, toolHash: hash });
    return { ok: true, value: { id, hash, manifest } };
  }

  list(filter?: ToolFilter): readonly ToolSummary[] {
    return this.#registry.list(filter);
  }

  async call(
    tool: string | { readonly manifest: { readonly name: string; readonly version: string } },
    input: unknown,
    options: CallOptions = {},
  ): Promise<CallResult<never>> {
    const call = openCall(tool, options, this.#clock);
    const path: Path = {};
    let result: CallResult;
    try {
      result = await this.#run(call, input, path);
    } catch (error) {
      result = await this.#close(call, unexpected(error, path.started !== undefined), path);
    } finally {
      path.started?.gate.close();
      path.release?.();
      path.hold?.release();
      path.settle?.(path.started !== undefined);
    }
    await this.#watch(result, path);
    return (await this.#signed(result, call)) as CallResult<never>;
  }

  /** The twelve steps. Each takes what the one before returned, so that none can be skipped. */
  async #run(call: Call, input: unknown, path: Path): Promise<CallResult> {
    const log = this.#log;
    const clock = this.#clock;

    const resolved = path.resolved ?? resolve(call, this.#registry, this.#hosts);
    const validated = resolved.ok ? validateInput(resolved.state, input) : resolved;
    const invoked = { tool: resolved.ok ? resolved.state.tool.id : call.toolName, caller: call.caller };
    const inputHash = validated.ok ? validated.state.inputHash : null;
    if (path.edited === undefined)
      log.record("call.invoked", call.scope, { ...invoked, inputHash, correlationId: call.correlationId });
    path.resolved = resolved;
    path.tool = invoked.tool;
    if (!validated.ok) return this.#close(call, validated, path);

    const granted = checkCapabilities(validated.state, this.#authority(), log, clock);
    if (!granted.ok) return this.#close(call, granted, path);

    const decided = decidePolicy(granted.state, this.#state, log, clock, path.edited?.proof.proofId ?? null);
    path.proof = decided.proof;
    path.settle = decided.settle;

    const ports = this.#ports(call);
    const allowed = await approve(decided, ports);
    if (!allowed.ok) return "edited" in allowed ? this.#again(call, allowed, path) : this.#close(call, allowed, path);
    path.proof = allowed.state.proof;
    if (allowed.state.hold) path.hold = allowed.state.hold;

    const reserved = await reserveBounds(allowed.state, this.#limiter, clock);
    if (!reserved.ok) return this.#close(call, reserved, path);
    path.release = reserved.state.release;

    const late = lapsed(reserved.state, ports);
    if (late) return this.#close(call, late, path);

    const started = await recordStart(reserved.state, this.#brokers, this.#state.labels, log);
    path.started = started;
    const tooLate = lapsed(started, ports);
    if (tooLate) return this.#close(call, tooLate, path);

    const ran = await run(started, this.#pools.get(started.host)!, clock);

    const checked = validateOutput(ran);
    if (!checked.ok) return this.#close(call, checked, path);

    const concluded = normalizeOutput(checked.state);
    if (!concluded.ok) return this.#close(call, concluded, path);

    const { hash: outputHash, outputBytes, gate } = concluded.state;
    log.record("tool.completed", call.scope, { outputHash, outputBytes, effects: gate.effects });
    await log.flush();

    return succeeded(concluded.state, clock);
  }

  /** Arguments that an approver edited start again at step 2; what is decided about them follows from the question that they answer. */
  async #again(call: Call, edited: Edited, path: Path): Promise<CallResult> {
    path.settle?.(false);
    delete path.settle;
    path.proof = edited.proof;
    path.edited = edited;
    path.edits = (path.edits ?? 0) + 1;
    if (path.edits <= limits.edits) return this.#run(call, edited.edited, path);
    const why = `The arguments were edited more than ${limits.edits} times.`;
    return this.#close(call, stop("APPROVAL_DENIED", why), path);
  }

  #ports(call: Call): ApprovalPorts {
    return {
      log: this.#log,
      clock: this.#clock,
      approver: call.options.approver ?? this.#approver,
      approvals: this.#approvals,
      authority: () => this.#authority(),
    };
  }

  #authority(): Authority {
    return { policy: this.#policy, mode: this.#mode };
  }

  /** Tells the mode's triggers how a call ended. A stricter mode holds at once; the record follows with the next flush at the latest. */
  async #watch(result: CallResult, { started }: Path): Promise<void> {
    const code = result.ok ? undefined : result.error.code;
    const fired = this.#triggers.ended(this.#mode, code, started !== undefined);
    if (!fired) return;
    try {
      await this.setMode(fired.to, fired.reason);
    } catch {
      // The log cannot be written, and nothing runs any more: stricter than any mode.
    }
  }

  async #signed(result: CallResult, call: Call): Promise<CallResult> {
    if (!this.#signer || !result.proof) return result;
    try {
      return { ...result, proof: await this.#signer.sign(result.proof) };
    } catch {
      call.warnings.push("The proof could not be signed.");
      return result;
    }
  }

  /** Steps 11 and 12 for every call that gave no result: one terminal event, then the answer. */
  async #close(call: Call, why: Stop, { tool, proof, started }: Path): Promise<CallFailure> {
    let reported = why;
    if (why.code !== "AUDIT_UNAVAILABLE") {
      const end = { code: why.code, errorHash: hashJsonOrFault({ ...errorOf(why) }) };
      if (started) this.#log.record("tool.failed", call.scope, { ...end, effects: started.gate.effects });
      else this.#log.record("tool.blocked", call.scope, end);
      try {
        await this.#log.flush();
      } catch (error) {
        reported = unexpected(error, started !== undefined);
      }
    }
    return failed(call, reported, tool ?? call.toolName, why.proof ?? proof, started?.gate, this.#clock);
  }

  get audit(): AuditReader {
    return {
      read: (fromSeq = 0, limit = limits.memoryEvents) => this.#log.read(fromSeq, limit),
      subscribe: (listener) => this.#log.subscribe(listener),
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

  get mode(): Mode {
    return this.#mode;
  }

  async setMode(mode: Mode, reason: string): Promise<void> {
    const tightens = isStricter(knownMode(mode), this.#mode);
    this.#log.record("mode.changed", kernelScope, {
      mode,
      previous: this.#mode,
      reason: reason.slice(0, 500).toWellFormed(),
    });
    // What tightens holds at once; what loosens waits for the record.
    if (tightens) this.#mode = mode;
    await this.#log.flush();
    this.#mode = mode;
  }

  get policyHash(): string {
    return this.#policy.hash;
  }

  async setPolicy(document: unknown): Promise<Setup<{ readonly policyHash: string }>> {
    const policy = loadPolicy(document, this.#variables);
    if (!policy.ok) return policy;
    this.#log.record("policy.changed", kernelScope, { policyHash: policy.value.hash, previousHash: this.#policy.hash });
    await this.#log.flush();
    this.#policy = policy.value;
    return { ok: true, value: { policyHash: policy.value.hash } };
  }

  async close(): Promise<void> {
    for (const pool of this.#pools.values()) pool.close();
    await Promise.all(this.#hosts.map((host) => host.close()));
  }
}

/** How far a call came: what its end, whatever it is, has to release and to report. */
interface Path {
  resolved?: Step<Resolved>;
  tool?: string;
  proof?: Proof;
  /** The answer by which the call started again. */
  edited?: Edited;
  edits?: number;
  release?: () => void;
  /** Ends what the call was charged with. */
  settle?: (hasStarted: boolean) => void;
  hold?: Hold;
  started?: Started;
}

function unexpected(error: unknown, ran: boolean): Stop {
  if (error instanceof AuditUnavailable) {
    const message = ran
      ? "The audit log could not be written while the tool ran; whatever it did is not on record."
      : "The audit log cannot be written, so nothing runs.";
    const hint = "Repair the sink, then open a new kernel on it.";
    return stop("AUDIT_UNAVAILABLE", message, { details: { ran }, hint, retryable: !ran });
  }
  const name = error instanceof Error ? `${error.name}: ${error.message}`.slice(0, 500).toWellFormed() : "";
  return stop("INTERNAL", "The kernel failed; the fault is not the caller's.", { details: { error: name } });
}

/** @throws TypeError for a mode that there is none of: a bug of the embedding program. */
function knownMode(mode: Mode): Mode {
  if (modes.includes(mode)) return mode;
  throw new TypeError(`There is no mode ${JSON.stringify(mode)}: ${modes.join(", ")}.`);
}
