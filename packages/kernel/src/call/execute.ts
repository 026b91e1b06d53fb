import type { AuditLog } from "../audit/log.ts";
import { Deadline } from "../bounds/deadline.ts";
import { effectiveBounds } from "../bounds/effective.ts";
import type { Bounds } from "../bounds/bounds.ts";
import { type Limited, type Limiter, limitText, type Reservation, type Waiting } from "../bounds/limiter.ts";
import type { Broker } from "../capability/broker.ts";
import type { CapabilityKind } from "../capability/capability.ts";
import { Gate, type GateOptions } from "../capability/gate.ts";
import type { GateCounts } from "../capability/counts.ts";
import type { Revocations } from "../capability/revocation.ts";
import type { SecretKeeper } from "../capability/secret.ts";
import { secretToken } from "../id/placeholder.ts";
import type { Clock } from "../isolate/clock.ts";
import type { Owner } from "../isolate/lease.ts";
import type { IsolatePool } from "../isolate/pool.ts";
import type { IsolateCall, IsolateUsage } from "../isolate/port.ts";
import { type RunEnd, runInIsolate } from "../isolate/run.ts";
import { limits } from "../limits.ts";
import { Body } from "../isolate/body.ts";
import { Flow } from "../normalize/flow.ts";
import { guardOf } from "../policy/guard.ts";
import type { Policy } from "../policy/load.ts";
import type { SessionLabels } from "../policy/session-labels.ts";
import type { Allowed } from "./approve.ts";
import type { CallOptions } from "./call-options.ts";
import type { RegisteredTool } from "../tool/package.ts";
import { withProgram } from "../tool/program.ts";
import { holderOf, revokedFor, revokedStop } from "./authorize.ts";
import { next, type Step, type Stop, stop } from "./call.ts";
import { type Caller, type CallWithin, callsAround, countAround, NestedCalls, outermostOf } from "./nested.ts";

/** A call that holds its slot. Whoever has one must release it, on every way out. */
export interface Reserved extends Allowed {
  readonly bounds: Bounds;
  readonly release: () => void;
}

/** A call whose start is on record. Only such a call may run. */
export interface Started extends Reserved {
  readonly gate: Gate;
  /** Number of its run, from 1. */
  readonly attempt: number;
  /** What its runs cost so far, where the host counts it. */
  readonly used: IsolateUsage[];
  /** Of all its runs. */
  readonly deadline: Deadline;
  /** Whether its tool may call tools. */
  readonly mayCall: boolean;
  /** Where its output is a stream. */
  readonly flow: Flow | undefined;
  /** Where one comes with its input. */
  readonly body: Body | undefined;
}

/** What a call needs to wait for its slot. */
export interface ReserveParts {
  readonly limiter: Limiter;
  readonly log: AuditLog;
  readonly clock: Clock;
  readonly revocations: Pick<Revocations, "hold" | "standing">;
}

/** Step 6. At once, where a slot is free. */
export function reserveBounds(state: Allowed, parts: ReserveParts): Step<Reserved> | Promise<Step<Reserved>> {
  const { call, tool, policy, hold } = state;
  const { signal } = call.options;
  if (signal?.aborted) return stop("CANCELLED", "The caller cancelled before the tool started.");
  const bounds = boundsOf(tool, policy, call.options);
  if (call.parent && countAround(call, ({ toolId }) => toolId === tool.id) >= bounds.concurrency) {
    return stop("BOUNDS_EXCEEDED", `Every slot of ${tool.id} is held by a call that waits for this one.`, {
      details: { bound: "concurrency", limit: bounds.concurrency },
      hint: "Call a tool from within itself less deeply, or raise bounds.concurrency.",
    });
  }
  const { waitMs = Math.min(bounds.timeoutMs, limits.waitMs) } = call.options;
  const signals = [signal, hold?.revoked].filter((each) => each !== undefined);
  const candidate = { toolId: tool.id, caller: call.caller, outermostId: outermostOf(call).callId, bounds };
  const reserved = parts.limiter.reserve(candidate, { waitMs, signals });
  if ("ok" in reserved) return reservedWith(reserved, state, bounds);
  return reserveWaiting({ ...state, bounds }, reserved, waitMs, parts);
}

/** The call leaves the queue at once when it is cancelled, or loses its approval or a grant that it needs. */
async function reserveWaiting(
  state: Omit<Reserved, "release">,
  { position, end, leave }: Waiting,
  waitMs: number,
  { log, clock, revocations }: ReserveParts,
): Promise<Step<Reserved>> {
  const { call, tool, bounds } = state;
  const startedMs = clock.monotonicMs();
  log.record("call.queued", call.scope, { position, waitMs });
  void flushed(log);
  const grant = tool.manifest.capabilities.length > 0 ? revocations.hold(holderOf(call, tool)) : undefined;
  grant?.watch(() => {
    if (revokedFor(state, revocations)) leave();
  });
  const reservation = await end;
  grant?.end();
  call.queuedMs += clock.monotonicMs() - startedMs;
  const revoked = reservation.ok ? undefined : revokedStop(state, revocations, log, clock);
  return revoked ?? reservedWith(reservation, state, bounds);
}

/** So that the caller hears of the queue while the call waits. A log that fails refuses the start later. */
async function flushed(log: AuditLog): Promise<void> {
  try {
    await log.flush();
  } catch {
    // As above.
  }
}

/** What a call may use of everything. */
export function boundsOf({ manifest }: RegisteredTool, policy: Policy, { bounds }: CallOptions): Bounds {
  const governed = observes(policy) ? undefined : policy.governance(manifest.name)?.bounds;
  return effectiveBounds(manifest.bounds, governed, bounds);
}

function reservedWith(reservation: Reservation, state: Allowed, bounds: Bounds): Step<Reserved> {
  const { call, tool } = state;
  if (reservation.ok) return next({ ...state, bounds, release: reservation.release });
  if (call.options.signal?.aborted)
    return stop("CANCELLED", "The caller cancelled while the call waited for a free slot.");
  return limitedStop(tool.id, reservation);
}

export function limitedStop(toolId: string, limited: Limited): Stop {
  const { ok: _, ...details } = limited;
  const hint = `Try again in ${Math.ceil(limited.retryAfterMs / 1000)} s.`;
  return stop("RATE_LIMITED", `${toolId} ${limitText(limited)}.`, { details, hint, retryable: true });
}

const observes = ({ document }: Policy): boolean => document.enforcement === "observe";

/** What a run is opened with, besides the call. */
export interface RunParts {
  readonly brokers: ReadonlyMap<CapabilityKind, Broker>;
  readonly labels: SessionLabels;
  readonly log: AuditLog;
  readonly clock: Clock;
  readonly revocations: Pick<Revocations, "hold">;
  readonly secrets: SecretKeeper | undefined;
  readonly within: CallWithin;
}

/** Step 7. Nothing runs before this has returned, or resolved; it throws, or rejects, when the log cannot be written. From here on the session carries the tool's labels. */
export function recordStart(state: Reserved, parts: RunParts): Started | Promise<Started> {
  const { log, clock } = parts;
  const { call, tool, host, bounds } = state;
  log.record("tool.started", call.scope, { tool: tool.id, toolHash: tool.hash, host: host.name });
  const started = (): Started =>
    startedAs(state, parts, { attempt: 1, used: [], deadline: new Deadline(bounds.timeoutMs, clock) });
  return log.flush()?.then(started) ?? started();
}

/** The call with what it runs with. `from`: how far its runs have come. */
export function startedAs(
  state: Reserved,
  { brokers, labels, log, revocations, secrets: keeper, within }: RunParts,
  from: Pick<Started, "attempt" | "used" | "deadline"> & { readonly counts?: GateCounts },
): Started {
  const { call, tool, bounds, policy } = state;
  const { counts, attempt, used, deadline } = from;
  labels.add(call.sessionId, policy.labelsOf(tool.manifest.name));
  const mayCall = state.grant.declared.some(({ kind }) => kind === "tool.call");
  const nested = (): Broker => new NestedCalls(callerOf(state, deadline), within);
  const gate = openGate(state, {
    brokers: mayCall ? new Map([...brokers, ["tool.call", nested()]]) : brokers,
    log,
    counts,
    hold: tool.manifest.capabilities.length > 0 ? () => revocations.hold(holderOf(call, tool)) : undefined,
    secrets: keeper && { keeper, token: secretToken(call.seed) },
  });
  const flow =
    tool.manifest.output.kind === "stream" ? new Flow(bounds.outputBytes, call.hash, call.output) : undefined;
  const body = call.body && new Body(bounds.bodyBytes, call.hash, call.body);
  return { ...state, attempt, used, deadline, gate, mayCall, flow, body };
}

export function callerOf({ call, tool, proof }: Reserved, deadline: Deadline): Caller {
  const pause = (): (() => void) => {
    const goOn = deadline.pause();
    const goOnAround = call.parent?.pause();
    return () => {
      goOn();
      goOnAround?.();
    };
  };
  return { call, toolId: tool.id, toolHash: tool.hash, proofId: proof.proofId, pause };
}

/** The same call with a gate of its own for its next run: what the last one still sends meets a closed one. */
export function nextAttempt(state: Started, log: AuditLog): Started {
  return {
    ...state,
    attempt: state.attempt + 1,
    gate: openGate(state, { ...state.gate.parts, log, before: state.gate }),
  };
}

function openGate(
  { call, bounds, grant, policy, hold, decisionInput }: Reserved,
  {
    log,
    before,
    brokers,
    counts,
    hold: holdGrant,
    secrets,
  }: Pick<GateOptions, "before" | "brokers" | "counts" | "hold" | "secrets"> & { readonly log: AuditLog },
): Gate {
  const guard = guardOf(policy, decisionInput);
  const gate = new Gate({
    before,
    brokers,
    counts,
    hold: holdGrant,
    secrets,
    grant,
    hash: call.hash,
    networkRequests: bounds.networkRequests,
    networkBytes: bounds.networkBytes,
    spend: call.parent?.spend,
    fileBytes: observes(policy) ? undefined : guard.fileBytes,
    refusal: (need) => {
      const reason = guard.refusal(need);
      if (reason === undefined || !observes(policy)) return reason;
      if (call.warnings.length < limits.messagesPerCall) call.warnings.push(`Not enforced: ${reason}`);
      return undefined;
    },
    journal: (use) => {
      log.record("capability.used", call.scope, use);
      return log.flush();
    },
  });
  hold?.revoked.addEventListener("abort", () => gate.close(false), { once: true });
  return gate;
}

/** Step 8. When it resolves, the isolate has answered, or was stopped, and the grants of the run have ended. */
export function run(state: Started, pool: IsolatePool, clock: Clock): Promise<RunEnd> {
  const { call, tool, gate, deadline, input, attempt, used } = state;
  const live = call.live?.runs(state);
  const owner = ownerOf(state);
  return runInIsolate(withProgram(tool, input, call.hash), isolateCallOf(state), {
    pool,
    owner: live?.thaw ? { ...owner, thaw: live.thaw } : owner,
    clock,
    gate: live?.gate ?? gate,
    onLease: live?.onLease,
    deadline,
    cancel: call.options.signal,
    abandoned: call.parent?.ended,
    onLog: call.options.onLog,
    onProgress: call.options.onProgress,
    onUsed: (usage) => {
      used[attempt - 1] = usage;
    },
    flow: state.flow,
    body: state.body,
  });
}

function isolateCallOf({ call, tool, bounds, gate, grant, inputText }: Started): IsolateCall {
  const { fuel, memoryBytes } = bounds;
  // A pure tool depends on neither: it sees what module code sees, the epoch and one fixed sequence.
  const { seed, nowMs } = tool.manifest.determinism === "pure" ? noMoment : call;
  const plain = {
    callId: call.callId,
    sessionId: call.sessionId,
    inputText,
    outputKind: tool.manifest.output.kind,
    ...(call.body && { hasBody: true }),
    outputBytes: bounds.outputBytes,
    ...(tool.manifest.output.transfer && { outputTransfer: true }),
    seed,
    nowMs,
    real: grant.kinds.length === 0 ? [] : grant.kinds.filter(isSource).filter((kind) => !gate.revoked(kind)),
  };
  if (fuel === undefined && memoryBytes === undefined) return plain;
  return { ...plain, ...(fuel !== undefined && { fuel }), ...(memoryBytes !== undefined && { memoryBytes }) };
}

const noMoment = { seed: "0".repeat(64), nowMs: 0 } as const;

const isSource = (kind: CapabilityKind): kind is "clock" | "random" => kind === "clock" || kind === "random";

/**
 * A session of one caller has one isolate of a tool; a tool that is called from within itself gets another one, which can be stopped without stopping the
 * call that waits for it, and does not have to wait for itself.
 */
function ownerOf({ call, tool }: Started): Owner {
  const { callId, caller, sessionId, parent } = call;
  if (!parent) return { callId, caller, sessionId, within: noCalls, around: 0 };
  const around = countAround(call, ({ toolHash }) => toolHash === tool.hash);
  return { callId, caller, sessionId, within: callsAround(call), around };
}

const noCalls: readonly string[] = [];
