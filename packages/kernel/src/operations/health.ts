import { present } from "../support/guards.ts";
import type { AuditLog } from "../audit/log.ts";
import { kernelScope } from "../audit/scope.ts";
import type { EffectiveBounds } from "../bounds/effective.ts";
import { Deadline } from "../bounds/deadline.ts";
import type { CapabilityReply } from "../capability/request.ts";
import type { Clock } from "../isolate/clock.ts";
import type { HealthState, ToolHealth } from "../isolate/health.ts";
import type { IsolatePool } from "../isolate/pool/pool.ts";
import type { IsolateHost } from "../isolate/port.ts";
import { boundedCall } from "../isolate/bounded-call.ts";
import { allLogical } from "../isolate/port.ts";
import { quarantineText } from "../isolate/pool/slot.ts";
import { type RunEnd, runInIsolate } from "../isolate/run.ts";
import * as limits from "../limits.ts";
import { runsIn } from "../policy/modes/mode.ts";
import { resolve, type Resolved, type ResolvePorts } from "../call/steps/resolve.ts";
import { boundsOf } from "../call/steps/reserve.ts";
import { CallFault } from "../call/faults/fault.ts";
import type { CallRecord } from "../call/record/record.ts";

export interface HealthParts extends ResolvePorts {
  readonly pools: ReadonlyMap<IsolateHost, IsolatePool>;
  readonly log: AuditLog;
  readonly clock: Clock;
}

type Answer = Extract<ToolHealth, { readonly state: HealthState }>;

/**
 * Asks a tool how it is. As before a call, nothing of it runs before that is on record.
 *
 * @throws AuditUnavailable
 */
export async function checkHealth(call: CallRecord, parts: HealthParts): Promise<ToolHealth> {
  const { pools, log, clock } = parts;
  const { mode } = parts.authority();
  const resolved = attempt(() => resolve(call, parts));
  if (resolved instanceof CallFault) return { state: "unchecked", reason: resolved.error.message };
  const { tool, host } = resolved;
  const { manifest } = tool;
  if (!runsIn(mode, manifest)) return { state: "unchecked", reason: `${tool.id} does not run in ${mode}.` };
  const about = { tool: tool.id, toolHash: tool.hash, caller: call.caller };
  log.record("health.asked", kernelScope, { ...about, host: host.name });
  await log.flush();
  // After the flush: a policy that came meanwhile counts.
  const bounds = boundsOf(tool, parts.authority().policy, call.options);
  const answer = await ask(resolved, bounds, present(pools.get(host)), clock);
  log.record("health.answered", kernelScope, { ...about, state: answer.state });
  await log.flush();
  return answer;
}

/** Returns a fault as a value, for operations that answer with it. */
export function attempt<State>(step: () => State): State | CallFault {
  try {
    return step();
  } catch (thrown) {
    if (thrown instanceof CallFault) return thrown;
    throw thrown;
  }
}

const nothingGranted: CapabilityReply = {
  ok: false,
  error: { code: "CAPABILITY_DENIED", message: "A health check has no capabilities.", hint: "" },
};

/** Of the output of each check, `null`. */
const nullBytes = 4;

/**
 * Runs the check in the isolate that the caller's session has or would get. An isolate that dies or
 * hangs counts as under a call.
 */
async function ask(
  { call, tool }: Resolved,
  bounds: EffectiveBounds,
  pool: IsolatePool,
  clock: Clock,
): Promise<Answer> {
  const { caller, sessionId, callId, nowMs, seed } = call;
  const rest = pool.rest(tool, caller);
  if (rest) {
    const [reason] = quarantineText(tool, rest);
    return { state: "quarantined", reason, retryAfterMs: rest.restMs };
  }
  const asked = { asks: "health", callId, sessionId, inputText: "null", outputKind: "json" } as const;
  const end = await runInIsolate(
    tool,
    boundedCall({ ...asked, seed, nowMs, real: allLogical }, bounds, { outputBytes: nullBytes }),
    {
      pool,
      owner: { callId, caller, sessionId, within: [], around: 0 },
      clock,
      gate: { request: async () => nothingGranted, close: () => {} },
      deadline: new Deadline(Math.min(bounds.timeoutMs, limits.healthMs), clock),
      cancel: undefined,
      abandoned: undefined,
      onLog: undefined,
      onProgress: undefined,
      onUsed: () => {},
      flow: undefined,
      body: undefined,
    },
  );
  return answerOf(end);
}

function answerOf(end: RunEnd): Answer {
  switch (end.kind) {
    case "returned":
      return { state: "healthy" };
    case "refused":
      return { state: "unhealthy", reason: end.message };
    case "threw":
      return { state: "unhealthy", reason: end.message || end.name };
    case "not-opened":
      return { state: "unreachable", reason: end.failure.message };
    case "lost":
      return { state: "unreachable", reason: `The isolate was lost: ${end.reason}.` };
    case "timed-out":
      return { state: "unreachable", reason: "The kernel stopped it: it did not answer in time." };
    default:
      return { state: "unreachable", reason: `It ended with ${end.kind}.` };
  }
}
