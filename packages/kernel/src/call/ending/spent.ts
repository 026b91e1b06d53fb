import type { IsolateUsage } from "../../isolate/port.ts";
import { gatePart, runPart } from "../record/carried-part.ts";
import type { CallRecord } from "../record/record.ts";
import type { Spent } from "../record/spent.ts";

const nothing: Spent = {
  effects: [],
  networkRequests: 0,
  networkBytes: 0,
  attempts: 0,
  usage: {},
  cached: false,
};

/**
 * The use of a call so far, here and before a suspension. A call that reuses another's result
 * reports the effects of that call.
 */
export function spentBy(call: CallRecord): Spent {
  if (call.spent) return call.spent;
  const { gate, reused, attempt, used } = call.progress;
  if (reused) return { ...nothing, effects: reused.effects, cached: true };
  const counts = gate?.counts ?? call.came(gatePart);
  if (!counts) return nothing;
  const { effects, networkRequests, networkBytes } = counts;
  const attempts = attempt ?? call.came(runPart)?.attempt ?? 0;
  return { effects, networkRequests, networkBytes, attempts, usage: usageOf(used ?? []), cached: false };
}

/** The use of a call, as its end event has it. Nothing later changes what the result reports. */
export function spentAtEnd(call: CallRecord): Pick<Spent, "effects"> & IsolateUsage & Partial<NetworkUse> {
  const { effects, usage, networkRequests, networkBytes } = (call.spent = spentBy(call));
  const hasNetwork = networkRequests > 0 || networkBytes > 0;
  return withMore(withMore({ effects }, usage), hasNetwork ? { networkRequests, networkBytes } : noUsage);
}

type NetworkUse = Pick<Spent, "networkRequests" | "networkBytes">;

/** Fuel of all its runs together, and the memory of the one that had the most. */
export function usageOf(used: readonly IsolateUsage[]): IsolateUsage {
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
