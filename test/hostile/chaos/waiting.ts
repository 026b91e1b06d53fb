import type { Kernel } from "@keyhole/kernel";
import { expect } from "vitest";

/** What a round trip costs, again and again until it is stopped, in milliseconds. */
export interface Sampled {
  stop(): Promise<readonly number[]>;
}

/** Round trips in milliseconds: with nothing else going on, and while everything goes wrong. */
export interface Waited {
  readonly quiet: readonly number[];
  readonly chaos: readonly number[];
}

/** Between two round trips: they are made beside the others, and are not one more flood. */
const PAUSE_MS = 5;

/** @param goesOn asked before each, with how many there were */
async function timed(trip: () => Promise<unknown>, goesOn: (count: number) => boolean): Promise<readonly number[]> {
  const times: number[] = [];
  while (goesOn(times.length)) {
    const startedMs = performance.now();
    await trip();
    times.push(performance.now() - startedMs);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  return times;
}

export async function callBystander(kernel: Kernel): Promise<void> {
  const result = await kernel.call("bystander", { message: "x" }, { caller: "bystander", sessionId: "s" });
  expect(result.ok ? "ok" : result.error).toBe("ok");
}

export interface Bystanders {
  /** Watches them while the work goes on and, where that was asked for, as many round trips of theirs afterwards. */
  beside(work: () => Promise<unknown>): Promise<void>;
  readonly tool: Waited;
  readonly bare: Waited;
}

/**
 * Those who have nothing to do with what goes wrong: another tool, and two threads of the platform's own. Quiet and chaos alternate, so that both are watched
 * in the same process, as warm, and on a machine that others keep as busy.
 *
 * @param restMs given to what was ended to be gone, before the quiet begins. Default: there is no quiet
 */
export function bystandersOf(kernel: Kernel, bare: () => Sampled, restMs: number | undefined): Bystanders {
  const tool = { quiet: [] as number[], chaos: [] as number[] };
  const threads = { quiet: [] as number[], chaos: [] as number[] };
  const trip = (): Promise<void> => callBystander(kernel);
  return {
    tool,
    bare: threads,
    async beside(work) {
      let isOver = false;
      const called = timed(trip, () => !isOver);
      const sampled = bare();
      await work();
      isOver = true;
      const { length } = await called;
      tool.chaos.push(...(await called));
      threads.chaos.push(...(await sampled.stop()));
      if (restMs === undefined) return;

      await new Promise((resolve) => setTimeout(resolve, restMs));
      const resampled = bare();
      tool.quiet.push(...(await timed(trip, (count) => count < length)));
      threads.quiet.push(...(await resampled.stop()));
    },
  };
}
