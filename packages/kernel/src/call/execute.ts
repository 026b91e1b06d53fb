import type { AuditLog } from "../audit/log.ts";
import { Deadline } from "../bounds/deadline.ts";
import { effectiveBounds } from "../bounds/effective.ts";
import type { Bounds } from "../bounds/bounds.ts";
import type { Limiter, Reservation } from "../bounds/limiter.ts";
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
import type { CallOptions } from "../kernel-api.ts";
import type { RegisteredTool } from "../tool/package.ts";
import { withProgram } from "../tool/program.ts";
import { holderOf } from "./authorize.ts";
import { next, type Step, stop } from "./call.ts";
import { type Caller, type CallWithin, callsAround, countAround, NestedCalls } from "./nested.ts";

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

/** Step 6. At once, unless the caller wants to wait. */
export function reserveBounds(
  state: Allowed,
  limiter: Limiter,
  clock: Clock,
): Step<Reserved> | Promise<Step<Reserved>> {
  const { call, tool, policy } = state;
  const { signal, waitMs = 0 } = call.options;
  if (signal?.aborted) return stop("CANCELLED", "The caller cancelled before the tool started.");
  const bounds = boundsOf(tool, policy, call.options);
  if (call.parent && countAround(call, ({ toolId }) => toolId === tool.id) >= bounds.concurrency) {
    return stop("BOUNDS_EXCEEDED", `Every slot of ${tool.id} is held by a call that waits for this one.`, {
      details: { bound: "concurrency", limit: bounds.concurrency },
      hint: "Call a tool from within itself less deeply, or raise bounds.concurrency.",
    });
  }
  if (waitMs <= 0) return reservedWith(limiter.reserve(tool.id, call.caller, bounds), state, bounds);
  const startedMs = clock.monotonicMs();
  return limiter.reserveWithin(tool.id, call.caller, bounds, { waitMs, signal }).then((reservation) => {
    call.queuedMs += clock.monotonicMs() - startedMs;
    return reservedWith(reservation, state, bounds);
  });
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
  const { bound, limit, retryAfterMs } = reservation;
  const what = bound === "concurrency" ? `${plural(limit)} at the same time` : `${plural(limit)} an hour`;
  return stop("RATE_LIMITED", `${tool.id} takes ${what}.`, {
    details: { bound, limit, retryAfterMs },
    hint: `Try again in ${Math.ceil(retryAfterMs / 1000)} s.`,
    retryable: true,
  });
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

const plural = (calls: number): string => `${calls} call${calls === 1 ? "" : "s"}`;
