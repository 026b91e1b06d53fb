import type { Kernel } from "@keyhole/kernel";
import { expect } from "vitest";

/** What a round trip costs, again and again until it is stopped, in milliseconds. */
export interface Sampled {
  stop(): Promise<readonly number[]>;
}

/** Between two round trips: they are made beside the others, and are not one more flood. */
const PAUSE_MS = 5;

export function sample(trip: () => Promise<unknown>): Sampled {
  const times: number[] = [];
  let isOver = false;
  const done = (async () => {
    while (!isOver) {
      const startedMs = performance.now();
      await trip();
      times.push(performance.now() - startedMs);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  })();
  return {
    async stop() {
      isOver = true;
      await done;
      return times;
    },
  };
}

/** Keeps so many of 100 within it. */
export function percentile(times: readonly number[], percent: number): number {
  return times.toSorted((a, b) => a - b)[Math.ceil((times.length * percent) / 100) - 1] ?? 0;
}

export async function callBystander(kernel: Kernel): Promise<void> {
  const result = await kernel.call("bystander", { message: "x" }, { caller: "bystander", sessionId: "s" });
  expect(result.ok ? "ok" : result.error).toBe("ok");
}
