import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";

/** How long a thread is looked at. */
const WINDOW_MS = 200;

const tasks = "/proc/self/task";

/** Whether the system counts the time of single threads. */
export const countsThreads = process.platform === "linux";

/** Of all threads with isolates, as the system counts it: in ticks of 10 ms. */
function processorTicks(): number {
  const threads = readdirSync(tasks).filter((id) => nameOf(id).startsWith("keyhole"));
  return threads.map(ticksOf).reduce((sum, each) => sum + each, 0);
}

/** Empty for a thread that has ended meanwhile. */
function nameOf(id: string): string {
  try {
    return readFileSync(`${tasks}/${id}/comm`, "utf8");
  } catch {
    return "";
  }
}

function ticksOf(id: string): number {
  try {
    // Behind the name, which can hold spaces.
    const fields = readFileSync(`${tasks}/${id}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    return Number(fields[11]) + Number(fields[12]);
  } catch {
    return 0;
  }
}

/** Processor time that the threads used in a window of 200 ms. */
export async function ticksInWindow(): Promise<number> {
  const before = processorTicks();
  await delay(WINDOW_MS);
  return processorTicks() - before;
}

/** A thread that spins never rests; one that has to collect its garbage, or starts, does so once. */
export async function untilQuiet(): Promise<void> {
  await expect.poll(ticksInWindow, { timeout: 30_000 }).toBe(0);
}
