import { type AuditLog, AuditUnavailable } from "../audit/log.ts";
import type { Limiter } from "../bounds/limiter.ts";
import type { Broker } from "../capability/broker.ts";
import type { CapabilityKind } from "../capability/capability.ts";
import type { Revocations } from "../capability/revocation.ts";
import type { SecretKeeper } from "../capability/secret.ts";
import type { Clock } from "../isolate/clock.ts";
import type { IsolatePool } from "../isolate/pool.ts";
import type { IsolateHost } from "../isolate/port.ts";
import { limits } from "../limits.ts";
import type { Hash } from "../normalize/hash.ts";
import type { ContentStore } from "../normalize/content.ts";
import { said } from "../normalize/said.ts";
import type { Approver } from "../policy/approval.ts";
import type { Approvals, Hold } from "../policy/approvals.ts";
import type { Proof } from "../policy/proof.ts";
import type { CallFailure, CallResult } from "../result.ts";
import type { Registry } from "../tool/registry.ts";
import { resolve, type Resolved, validateInput } from "./admit.ts";
import { type ApprovalPorts, approve, type Edited, lapsed } from "./approve.ts";
import { type Authority, checkCapabilities, type Decided, decidePolicy, type PolicyState } from "./authorize.ts";
import { type Call, openCall, type Step, type Stop, stop, suspended } from "./call.ts";
import type { Results } from "./cache.ts";
import { type Concluded, normalizeOutput, normalizerOf, tooLarge, validateOutput } from "./conclude.ts";
import { type Ending, endingOf, keptOf } from "./ending.ts";
import { recordStart, reserveBounds, run, type RunParts, type Started } from "./execute.ts";
import { keep } from "./keep.ts";
import {
  endBody,
  endOutput,
  errorOf,
  failed,
  reused,
  type Spent,
  spentBy,
  spentByOther,
  succeeded,
  usageOf,
  withMore,
} from "./finish.ts";
import type { Keys } from "./keys.ts";
import type { CallSuspender } from "./live.ts";
import type { CallWithin } from "./nested.ts";
import { refer } from "./refer.ts";
import { retry } from "./retry.ts";
import { cacheTurn, keyTurn, type Keyed, type Turn } from "./reuse.ts";

/** What all calls of one kernel share. */
export interface CallParts {
  readonly registry: Registry;
  readonly hosts: readonly IsolateHost[];
  readonly pools: ReadonlyMap<IsolateHost, IsolatePool>;
  readonly brokers: ReadonlyMap<CapabilityKind, Broker>;
  readonly secrets: SecretKeeper | undefined;
  readonly revocations: Pick<Revocations, "hold" | "standing">;
  readonly approver: Approver | undefined;
  readonly approvals: Approvals;
  readonly policyState: PolicyState;
  readonly limiter: Limiter;
  readonly keys: Keys;
  /** `undefined`: nothing is cached. */
  readonly results: Results | undefined;
  readonly log: AuditLog;
  readonly content: ContentStore | undefined;
  readonly suspender?: CallSuspender | undefined;
  readonly clock: Clock;
  readonly hash: Hash;
  /** Policy and mode as they are now: both change while calls are under way. */
  readonly authority: () => Authority;
  /** Told how each call ended, before its caller is. */
  readonly ended: (result: CallResult, hasStarted: boolean) => void | Promise<void>;
}

/** The way of a call, from its arrival to its answer. Never rejects. */
export class Steps {
  readonly parts: CallParts;

  constructor(parts: CallParts) {
    this.parts = parts;
  }

  /** A call that a tool makes. Its tool is a name, its options are ours. */
  readonly #within: CallWithin = (name, input, options, parent) =>
    this.take(openCall(name, options, this.parts.clock, parent.call.hash, parent), input);

  take(call: Call, input: unknown, path: Path = {}): Promise<CallResult> {
    return this.under(call, path, () => this.#run(call, input, path));
  }

  /** What is left of the way of a call, and the end of everything that it holds. */
  async under(call: Call, path: Path, way: () => Promise<CallResult>): Promise<CallResult> {
    call.live = this.parts.suspender?.follow(call, path, this);
    let result: CallResult;
    try {
      result = await way();
    } catch (error) {
      result = await this.close(call, unexpected(error, path.started !== undefined), path);
    } finally {
      path.started?.gate.close();
      path.release?.();
      path.hold?.release();
      path.settle?.(path.started !== undefined);
      call.live?.end();
    }
    if (call.output) void endOutput(call.output, result);
    if (call.body) void endBody(call.body);
    if (path.ends) this.#share(result, path, path.ends);
    if (isAside(result)) return result;
    const told = this.parts.ended(result, path.started !== undefined);
    if (told) await told;
    return result;
  }

  /** Tells those who wait for the same, and those who will ask for it. */
  #share(result: CallResult, { concluded, why, started }: Path, ends: readonly ((ending: Ending) => void)[]): void {
    const end =
      result.ok && concluded && started
        ? keptOf(started.tool, concluded)
        : { why: why ?? stop("INTERNAL", "The call ended without a reason.") };
    // One that is put aside may still do what it is for: nobody else does it.
    const ending = endingOf(result, started !== undefined || isAside(result), end);
    for (const each of ends) each(ending);
  }

  /** The twelve steps. Each takes what the one before returned, so that none can be skipped. */
  async #run(call: Call, input: unknown, path: Path): Promise<CallResult> {
    const { registry, hosts, log, clock, policyState, keys, results, revocations } = this.parts;

    const resolved = path.resolved ?? resolve(call, registry, hosts);
    const validated = resolved.ok ? validateInput(resolved.state, input) : resolved;
    const invoked = { tool: resolved.ok ? resolved.state.tool.id : call.toolName, caller: call.caller };
    const inputHash = validated.ok ? validated.state.inputHash : null;
    const isNew = path.edited === undefined && path.isResumed !== true;
    if (isNew)
      log.record("call.invoked", call.scope, {
        ...invoked,
        inputHash,
        correlationId: call.correlationId,
        parentCallId: call.parent?.call.callId ?? null,
      });
    path.resolved = resolved;
    path.tool = invoked.tool;
    if (!validated.ok) return this.close(call, validated, path);

    const granted = checkCapabilities(validated.state, this.parts.authority(), revocations, log, clock);
    if (!granted.ok) return this.close(call, granted, path);

    const decided = decidePolicy(granted.state, policyState, log, clock, path.edited?.proof.proofId);
    path.proof = decided.proof;
    path.settle = decided.settle;

    const keeping = keep(decided, "input", decided.input, this.parts);
    const unkept = keeping && (await keeping);
    if (unkept) return this.close(call, unkept, path);
    const isKeyed = call.options.idempotencyKey !== undefined && isNew;
    const keyed = isKeyed ? await keyTurn(decided, keys, log, clock) : undefined;
    if (keyed && keyed.kind !== "own") return this.#reuse(decided, keyed, path);
    if (keyed?.end) path.ends = [keyed.end];
    if (keyed?.key) path.key = keyed.key;

    const ports = this.ports(call);
    // What is there at once is not waited for: a turn of the queue costs more than most steps.
    const asked = approve(decided, ports);
    const allowed = asked instanceof Promise ? await asked : asked;
    if (!allowed.ok) return "edited" in allowed ? this.#again(call, allowed, path) : this.close(call, allowed, path);
    path.proof = allowed.state.proof;
    if (allowed.state.hold) path.hold = allowed.state.hold;

    const kept = results?.keysOf(allowed.state);
    const cached = results && kept ? await cacheTurn(allowed.state, kept, results, clock) : undefined;
    if (cached && cached.kind !== "own") return this.#reuse(allowed.state, cached, path, lapsed(allowed.state, ports));
    if (cached?.end) path.ends = [...(path.ends ?? []), cached.end];

    const reserving = reserveBounds(allowed.state, this.parts);
    const reserved = reserving instanceof Promise ? await reserving : reserving;
    if (reserved.ok) path.release = reserved.state.release;
    // A call that waited is refused for what made it wait in vain, not for the queue.
    const late = reserved.ok || reserved.code === "RATE_LIMITED" ? lapsed(allowed.state, ports) : undefined;
    if (late) return this.close(call, late, path);
    if (!reserved.ok) return this.close(call, reserved, path);

    const starting = recordStart(reserved.state, this.runParts);
    const started = starting instanceof Promise ? await starting : starting;
    path.started = started;
    const tooLate = lapsed(started, ports);
    if (tooLate) return this.close(call, tooLate, path);
    return this.finish(started, path);
  }

  /** From step 8 on. */
  async finish(begun: Started, path: Path): Promise<CallResult> {
    const { pools, log, clock } = this.parts;
    const { call } = begun;
    const ports = this.ports(call);
    let started = begun;
    const pool = pools.get(started.host)!;
    const end = await run(started, pool, clock);
    if (started.mayCall) await started.gate.settled();
    let checked = validateOutput(started, end);
    while (!checked.ok) {
      const again = await retry(started, checked, log, clock);
      const isVoid = again.ok ? lapsed(again.state, ports) : again;
      if (isVoid && again.ok) again.state.gate.close(); // It is in nobody's path yet.
      if (isVoid || !again.ok) return this.close(call, isVoid ?? checked, path);
      path.started = started = again.state;
      checked = validateOutput(started, await run(started, pool, clock));
      if (started.mayCall) await started.gate.settled();
    }

    const concluding = normalizeOutput(started, checked.state);
    const concluded = concluding instanceof Promise ? await concluding : concluding;
    if (!concluded.ok) return this.close(call, concluded, path);

    const { tool, gate } = started;
    const { hash: outputHash, outputBytes, output } = concluded.state;
    const keeping = keep(started, "output", output, this.parts);
    const unkept = keeping && (await keeping);
    if (unkept) return this.close(call, unkept, path);
    const stored = refer(started, outputBytes, () => keptOf(tool, concluded.state), this.parts.content);
    const reference = stored && (await stored);
    if (started.body) log.record("body.read", call.scope, started.body.account);
    const completed = { outputHash, outputBytes, effects: gate.counts.effects, ...normalizerOf(tool) };
    log.record("tool.completed", call.scope, withMore(completed, usageOf(started)));
    const written = log.flush();
    if (written) await written;
    path.concluded = concluded.state;

    return succeeded(started, concluded.state, clock, reference);
  }

  /** The end of a call for which nothing runs: it is given what another one got, if that fits its own bounds and nothing has changed meanwhile. */
  async #reuse(state: Decided, turn: Exclude<Turn, { kind: "own" }>, path: Path, late?: Stop): Promise<CallResult> {
    const { log, clock, policyState, content } = this.parts;
    const { call, tool, policy } = state;
    if (turn.kind === "refused") return this.close(call, turn.why, path);
    if (late) return this.close(call, late, path);
    const { callId: from, outcome, effects } = turn.ending;
    log.record("result.reused", call.scope, { from, by: turn.by });
    const spent = spentByOther(effects);
    path.spent = spent;
    if (!outcome.ok) return this.close(call, outcome.why, path);
    const { hash: outputHash, outputBytes } = outcome.output;
    const limit = call.options.bounds?.outputBytes ?? Infinity;
    if (outputBytes > limit) return this.close(call, tooLarge(tool.id, limit), path);
    const stored = refer(state, outputBytes, () => outcome.output, content);
    const reference = stored && (await stored);
    log.record("tool.completed", call.scope, { outputHash, outputBytes, ...normalizerOf(tool), effects });
    await log.flush();
    policyState.labels.add(call.sessionId, policy.labelsOf(tool.manifest.name));
    return reused(state, outcome.output, spent, clock, reference);
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
    return this.close(call, stop("APPROVAL_DENIED", why), path);
  }

  get runParts(): RunParts {
    const { brokers, log, clock, policyState, revocations, secrets } = this.parts;
    return { brokers, labels: policyState.labels, log, clock, revocations, secrets, within: this.#within };
  }

  ports(call: Call): ApprovalPorts {
    const { log, clock, approver, approvals, authority } = this.parts;
    return { log, clock, approver: call.options.approver ?? approver, approvals, authority };
  }

  /** Steps 11 and 12 for every call that gave no result: one terminal event, then the answer. */
  async close(call: Call, asked: Stop, path: Path): Promise<CallFailure> {
    const { log, clock } = this.parts;
    const { tool, proof, started, spent = spentBy(started) } = path;
    const why = asked === suspended ? await call.live!.put() : asked;
    let reported = why;
    if (why.code !== "AUDIT_UNAVAILABLE" && why.code !== "SUSPENDED") {
      const end = { code: why.code, errorHash: call.hash.jsonOrFault({ ...errorOf(why) }) };
      if (started?.body) log.record("body.read", call.scope, started.body.account);
      if (started ?? path.hasRun)
        log.record("tool.failed", call.scope, { ...end, effects: spent.effects, ...spent.usage });
      else log.record("tool.blocked", call.scope, end);
      try {
        await log.flush();
      } catch (error) {
        reported = unexpected(error, started !== undefined);
      }
    }
    path.why = reported;
    return failed(call, reported, tool ?? call.toolName, why.proof ?? proof, spent, clock);
  }
}

/** How far a call came: what its end, whatever it is, has to release and to report. */
export interface Path {
  resolved?: Step<Resolved>;
  tool?: string;
  proof?: Proof;
  /** The answer by which the call started again. */
  edited?: Edited;
  edits?: number;
  /** Its beginning is on record already. */
  isResumed?: boolean;
  /** Where it was suspended, and does not run again. */
  hasRun?: boolean;
  key?: Keyed;
  release?: () => void;
  /** Ends what the call was charged with. */
  settle?: (hasStarted: boolean) => void;
  hold?: Hold;
  started?: Started;
  concluded?: Concluded;
  /** What ended it without a result. */
  why?: Stop;
  /** Where nothing ran for it, and another call's result answers. */
  spent?: Spent;
  /** Who waits for its end. */
  ends?: readonly ((ending: Ending) => void)[];
}

function isAside(result: CallResult): boolean {
  return !result.ok && result.error.code === "SUSPENDED";
}

export function unexpected(error: unknown, ran: boolean): Stop {
  if (error instanceof AuditUnavailable) {
    const message = ran
      ? "The audit log could not be written while the tool ran; whatever it did is not on record."
      : "The audit log cannot be written, so nothing runs.";
    const hint = "Repair the sink, then open a new kernel on it.";
    return stop("AUDIT_UNAVAILABLE", message, { details: { ran }, hint, retryable: !ran });
  }
  const name = [said(error, "name"), said(error, "message")].join(": ").slice(0, 500).toWellFormed();
  return stop("INTERNAL", "The kernel failed; the fault is not the caller's.", { details: { error: name } });
}
