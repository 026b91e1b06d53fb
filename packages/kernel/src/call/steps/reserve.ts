import type { CallOptions } from "../arrival/call-options.ts";
import { effectiveBounds, type EffectiveBounds } from "../../bounds/effective.ts";
import type { Bounds } from "../../bounds/bounds.ts";
import type { Candidate, Limited, Limiter, Reservation, Waiting } from "../../bounds/limiter.ts";
import { withRevocations } from "../../capability/revocation.ts";
import * as limits from "../../limits.ts";
import type { AuditLog } from "../../audit/log.ts";
import type { Policy } from "../../policy/document/make.ts";
import type { RegisteredTool } from "../../tool/package.ts";
import { countAround, outermostOf } from "../record/ancestors.ts";
import { CallFault } from "../faults/fault.ts";
import * as texts from "../faults/texts.ts";
import { shareOf } from "../../support/shares.ts";
import type { MaybePromise } from "../../support/maybe-promise.ts";
import type { Entry } from "../arrival/entry.ts";
import type { CallRecord } from "../record/record.ts";
import { type Allowed, assertStartable, type AuthorizePorts } from "./authorize.ts";
import { countIn } from "./decide.ts";
import { assertUnrevoked, type GrantPorts, holderOf, revokedFor } from "./check-grants.ts";
import { hasOwn } from "../../support/guards.ts";

declare class Made {
  #reserve: never;
}
/** A call that holds a slot of its tool. */
export interface Reserved extends Allowed, Made {
  readonly bounds: EffectiveBounds;
}

export interface ReservePorts extends AuthorizePorts, Pick<GrantPorts, "revocations"> {
  readonly log: AuditLog;
  readonly limiter: Limiter;
}

/** Step 6. At once, where a slot is free. */
export function reserve(state: Allowed, entry: Entry, ports: ReservePorts): MaybePromise<Reserved> {
  const { call, tool, policy } = state;
  const bounds = boundsOf(tool, policy, call.options, call.parent?.fuelLeft);
  const reserved = (): Reserved => call.reach({ ...state, bounds } as Reserved);
  const waiting =
    entry.phase === "run" ? reserveAgain(state, entry.hasSlot, bounds, ports) : takeSlot(state, bounds, ports);
  return waiting instanceof Promise ? waiting.then(reserved) : reserved();
}

/** The slot is the call's when this returns, or resolves; it throws, or rejects, where there is none. */
function takeSlot(state: Allowed, bounds: Bounds, ports: ReservePorts): void | Promise<void> {
  const { call, tool, hold } = state;
  const { signal } = call.options;
  if (signal?.aborted) throw new CallFault("CANCELLED", texts.cancelled.starting);
  if (call.parent && countAround(call, ({ toolId }) => toolId === tool.id) >= shareOf(bounds.concurrency))
    throw new CallFault("BOUNDS_EXCEEDED", texts.slotsHeld(tool.id, bounds.concurrency));
  chargeHour(call, tool, bounds.callsPerHour, ports);
  const { waitMs = Math.min(bounds.timeoutMs, limits.waitMs) } = call.options;
  const signals = [signal, hold?.revoked].filter((each) => each !== undefined);
  const reserved = ports.limiter.reserve(candidateOf(call, tool, bounds), { waitMs, signals });
  if (hasOwn(reserved, "ok")) settle(reserved, state, ports);
  else return waitForSlot(state, reserved, waitMs, ports);
}

/** Of all versions of the tool together: a new one brings no new hour. The caller comes first: it owns the window. */
function chargeHour(
  call: CallRecord,
  tool: RegisteredTool,
  limit: number | undefined,
  { counters }: ReservePorts,
): void {
  if (limit === undefined) return;
  const key = JSON.stringify([call.caller, tool.manifest.name]);
  const taken = counters.take(key, limits.rateWindowMs, limit);
  if (typeof taken === "number")
    throw limitedFault(tool.id, { ok: false, bound: "callsPerHour", limit, retryAfterMs: taken });
  countIn(call, taken);
}

/** The call leaves the queue at once when it is cancelled, or loses its approval or a grant that it needs. */
async function waitForSlot(
  state: Allowed,
  { position, end, leave }: Waiting,
  waitMs: number,
  ports: ReservePorts,
): Promise<void> {
  const { log, clock, revocations } = ports;
  const { call, tool } = state;
  const startedMs = clock.monotonicMs();
  const waiting = call.part();
  waiting.defer(leave);
  log.record("call.queued", call.scope, { position, waitMs });
  void flushed(log);
  if (tool.manifest.capabilities.length > 0) {
    const grant = withRevocations(revocations, call.revocations).track(holderOf(call, tool));
    waiting.defer(() => grant.end());
    grant.watch(() => {
      if (revokedFor(state, revocations)) leave();
    });
  }
  const reservation = await end;
  if (reservation.ok) call.defer(reservation.release);
  waiting.close();
  call.queuedMs += clock.monotonicMs() - startedMs;
  if (reservation.ok) return;
  assertUnrevoked(state, ports);
  settle(reservation, state, ports);
}

/** So that the caller hears of the queue while the call waits. A log that fails refuses the start later. */
async function flushed(log: AuditLog): Promise<void> {
  try {
    await log.flush();
  } catch {
    // As above.
  }
}

function settle(reservation: Reservation, state: Allowed, ports: ReservePorts): void {
  const { call, tool } = state;
  if (reservation.ok) return void call.defer(reservation.release);
  if (call.options.signal?.aborted) throw new CallFault("CANCELLED", texts.cancelled.queued);
  // The refusal of a call that waited names the cause of the vain wait, not the queue.
  assertStartable(state, ports);
  throw limitedFault(tool.id, reservation);
}

function limitedFault(toolId: string, limited: Limited): CallFault {
  return new CallFault("RATE_LIMITED", texts.limited(toolId, limited));
}

/** A call that is resumed in its run took its slot before it used up its snapshot, or takes it now. */
function reserveAgain(
  { call, tool }: Allowed,
  hasSlot: boolean,
  bounds: Bounds,
  ports: ReservePorts,
): void | Promise<void> {
  if (!hasSlot) return takeSlotAgain(call, tool, bounds, ports);
}

/** A place among the calls of its tool. The hour in which the call began has counted it. */
export async function takeSlotAgain(
  call: CallRecord,
  tool: RegisteredTool,
  bounds: Bounds,
  { limiter }: Pick<ReservePorts, "limiter">,
): Promise<void> {
  const { signal } = call.options;
  const candidate = candidateOf(call, tool, bounds);
  const slot = limiter.reserve(candidate, { waitMs: limits.nestedWaitMs, signals: signal ? [signal] : [] });
  const reserved = hasOwn(slot, "ok") ? slot : await slot.end;
  if (!reserved.ok) throw limitedFault(tool.id, reserved);
  call.defer(reserved.release);
}

function candidateOf(call: CallRecord, tool: RegisteredTool, bounds: Candidate["bounds"]): Candidate {
  return { toolId: tool.id, caller: call.caller, outermostId: outermostOf(call).callId, bounds };
}

/** The effective bounds of a call, or of another run of a tool. */
export function boundsOf(
  { manifest }: RegisteredTool,
  policy: Policy,
  { bounds }: Pick<CallOptions, "bounds">,
  fuelLeft?: number,
): EffectiveBounds {
  const governed = observes(policy) ? undefined : policy.governance(manifest.name)?.bounds;
  return effectiveBounds(manifest.bounds, governed, bounds, fuelLeft === undefined ? undefined : { fuel: fuelLeft });
}

/** Whether the policy only watches: it warns of what it would have refused. */
export const observes = ({ document }: Policy): boolean => document.enforcement === "observe";
