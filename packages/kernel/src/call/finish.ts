import type { Effect } from "../capability/capability.ts";
import type { Clock } from "../isolate/clock.ts";
import type { IsolateUsage } from "../isolate/port.ts";
import type { ContentReference } from "../normalize/reference.ts";
import type { Proof } from "../policy/proof.ts";
import type { CallError, CallFailure, CallMeta, CallSuccess } from "../result.ts";
import type { Decided } from "./authorize.ts";
import type { Call, Stop } from "./call.ts";
import type { Concluded } from "./conclude.ts";
import { dataOf, type KeptOutput } from "./ending.ts";
import type { Started } from "./execute.ts";

/** What a call used, as its result says it. */
export interface Spent {
  readonly effects: readonly Effect[];
  readonly networkRequests: number;
  readonly networkBytes: number;
  readonly attempts: number;
  readonly usage: IsolateUsage;
  /** The result is that of another call. */
  readonly cached: boolean;
}

/** Of a call that ran, or of one that did not. */
export function spentBy(started: Started | undefined): Spent {
  if (!started) return { effects: [], networkRequests: 0, networkBytes: 0, attempts: 0, usage: {}, cached: false };
  const { gate, attempt } = started;
  const { effects, networkRequests, networkBytes } = gate.counts;
  const usage = usageOf(started);
  return { effects, networkRequests, networkBytes, attempts: attempt, usage, cached: false };
}

/** Fuel of all its runs together, and the memory of the one that had the most. */
export function usageOf({ used }: Started): IsolateUsage {
  if (used.length === 0) return noUsage; // Most hosts count nothing.
  const runs = used.filter((usage) => usage !== undefined);
  const fuel = runs.flatMap(({ fuelUsed }) => fuelUsed ?? []);
  const memory = runs.flatMap(({ peakMemoryBytes }) => peakMemoryBytes ?? []);
  return {
    ...(fuel.length > 0 && { fuelUsed: fuel.reduce((sum, each) => sum + each, 0) }),
    ...(memory.length > 0 && { peakMemoryBytes: Math.max(...memory) }),
  };
}

const noUsage: IsolateUsage = Object.freeze({});

/** Most calls have nothing to add, and a spread that adds nothing takes longer than the whole object does. */
export function withMore<T extends object, More extends object>(all: T, more: More): T & More {
  for (const _ in more) return { ...all, ...more };
  return all as T & More;
}

/** Of a call that was given the result of another one. Its effects are those of the deed that the result tells of. */
export function spentByOther(effects: readonly Effect[]): Spent {
  return { ...spentBy(undefined), effects, cached: true };
}

/** Step 12 of a call that gave a result. */
export function succeeded(
  started: Started,
  { output, hash }: Concluded,
  clock: Clock,
  reference?: ContentReference,
): CallSuccess {
  const { call, tool, proof } = started;
  const { effects, meta } = costOf(call, spentBy(started), clock);
  const given = { ok: true, data: output, hash, tool: tool.id, callId: call.callId, proof, effects, meta } as const;
  return reference ? { ...given, data: null, reference } : given;
}

/** Step 12 of a call that was given the result of another one. */
export function reused(
  { call, tool, proof }: Decided,
  output: KeptOutput,
  spent: Spent,
  clock: Clock,
  reference?: ContentReference,
): CallSuccess {
  const { callId } = call;
  return {
    ok: true,
    ...(reference ? { data: null, reference } : { data: dataOf(output) }),
    hash: output.hash,
    tool: tool.id,
    callId,
    proof,
    ...costOf(call, spent, clock),
  };
}

/** What the caller of a call without result is told. */
export function errorOf({ code, message, details, retryable, hint }: Stop): CallError {
  return { code, message, details, retryable, hint };
}

/** Step 12 of every other. */
export function failed(
  call: Call,
  why: Stop,
  tool: string,
  proof: Proof | undefined,
  spent: Spent,
  clock: Clock,
): CallFailure {
  const { callId } = call;
  return { ok: false, error: errorOf(why), tool, callId, ...(proof && { proof }), ...costOf(call, spent, clock) };
}

/** Closes what the output flowed into, or aborts it: also where the result is that of another call, to which the bytes went. */
export async function endOutput(output: Call["output"], result: CallFailure | CallSuccess): Promise<void> {
  try {
    if (!result.ok) await output?.abort(new Error(result.error.message));
    else if (result.meta.cached) await output?.abort(new Error("The bytes went to the call that ran."));
    else await output?.close();
  } catch {
    // What its other end makes of it is the caller's own.
  }
}

/** What its tool did not read is cancelled: also where nothing ran. */
export async function endBody(body: Call["body"]): Promise<void> {
  try {
    await body?.cancel("The call has ended.");
  } catch {
    // It broke off before, or its source is the caller's own.
  }
}

function costOf(
  { arrivedMs, queuedMs, warnings, traceparent }: Call,
  { effects, networkRequests, networkBytes, attempts, usage, cached }: Spent,
  clock: Clock,
): { readonly effects: readonly Effect[]; readonly meta: CallMeta } {
  const durationMs = clock.monotonicMs() - arrivedMs;
  const meta = { durationMs, queuedMs, cached, attempts, networkRequests, networkBytes, warnings, traceparent };
  return { effects, meta: withMore(meta, usage) };
}
