import type { AuditLog } from "../audit/log.ts";
import { effectiveBounds } from "../bounds/effective.ts";
import type { Bounds } from "../bounds/bounds.ts";
import type { Limiter } from "../bounds/limiter.ts";
import type { Broker } from "../capability/broker.ts";
import type { CapabilityKind } from "../capability/capability.ts";
import { Gate } from "../capability/gate.ts";
import { grantedKinds } from "../capability/grant.ts";
import type { Clock } from "../isolate/clock.ts";
import type { IsolatePool } from "../isolate/pool.ts";
import { type RunEnd, runInIsolate } from "../isolate/run.ts";
import type { Allowed } from "./approve.ts";
import { next, type Step, stop } from "./call.ts";

/** A call that holds its slot. Whoever has one must release it, on every way out. */
export interface Reserved extends Allowed {
  readonly bounds: Bounds;
  readonly release: () => void;
}

/** A call whose start is on record. Only such a call may run. */
export interface Started extends Reserved {
  readonly gate: Gate;
}

/** A call whose isolate has answered, or was stopped. Its grants have ended. */
export interface Ran extends Started {
  readonly end: RunEnd;
}

/** Step 6. */
export function reserveBounds(state: Allowed, limiter: Limiter): Step<Reserved> {
  const { call, tool } = state;
  if (call.options.signal?.aborted) return stop("CANCELLED", "The caller cancelled before the tool started.");
  const bounds = effectiveBounds(tool.manifest.bounds, call.options.bounds);
  const reservation = limiter.reserve(tool.id, call.caller, bounds);
  if (reservation.ok) return next({ ...state, bounds, release: reservation.release });
  const { bound, limit, retryAfterMs } = reservation;
  const what = bound === "concurrency" ? `${plural(limit)} at the same time` : `${plural(limit)} an hour`;
  return stop("RATE_LIMITED", `${tool.id} takes ${what}.`, {
    details: { bound, limit, retryAfterMs },
    hint: `Try again in ${Math.ceil(retryAfterMs / 1000)} s.`,
    retryable: true,
  });
}

/** Step 7. Nothing runs before this resolves; it rejects when the log cannot be written. */
export async function recordStart(
  state: Reserved,
  brokers: ReadonlyMap<CapabilityKind, Broker>,
  log: AuditLog,
): Promise<Started> {
  const { call, tool, host, bounds, grant } = state;
  log.record("tool.started", call.scope, { tool: tool.id, toolHash: tool.hash, host: host.name });
  await log.flush();
  const gate = new Gate({
    grant,
    brokers,
    networkRequests: bounds.networkRequests,
    networkBytes: bounds.networkBytes,
    journal: (use) => {
      log.record("capability.used", call.scope, use);
      return log.flush();
    },
  });
  return { ...state, gate };
}

/** Step 8. */
export async function run(state: Started, pool: IsolatePool, clock: Clock): Promise<Ran> {
  const { call, tool, bounds, gate, grant, inputText } = state;
  const kinds = grantedKinds(grant);
  const end = await runInIsolate(
    tool,
    {
      callId: call.callId,
      sessionId: call.sessionId,
      inputText,
      outputKind: tool.manifest.output.kind,
      outputBytes: bounds.outputBytes,
      seed: call.seed,
      nowMs: call.nowMs,
      real: kinds.filter((kind) => kind === "clock" || kind === "random"),
    },
    {
      pool,
      owner: JSON.stringify([call.caller, call.sessionId]),
      clock,
      gate,
      timeoutMs: bounds.timeoutMs,
      cancel: call.options.signal,
      onLog: call.options.onLog,
      onProgress: call.options.onProgress,
    },
  );
  return { ...state, end };
}

const plural = (calls: number): string => `${calls} call${calls === 1 ? "" : "s"}`;
