import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { Isolate } from "@keyhole/kernel";
import { nodeHost } from "@keyhole/worker-host/node";
import { describe, expect, it } from "vitest";
import { callWith, moduleOf, quietPort } from "../browser/open.ts";
import { endings, leaving, leftoverHash, leftoverTool, ways } from "../contract/isolate-quiet.ts";

const spinning = "export default { code: { execute() { for (;;); } } };";

/** How long a thread is looked at. */
const WINDOW_MS = 200;

const tasks = "/proc/self/task";
const isLinux = process.platform === "linux";

/** Of all threads with isolates, as the system counts it: in ticks of 10 ms. */
function processorTicks(): number {
  const threads = readdirSync(tasks).filter((id) => readFileSync(`${tasks}/${id}/comm`, "utf8").startsWith("keyhole"));
  const ticks = threads.map((id) => {
    // Behind the name, which can hold spaces.
    const fields = readFileSync(`${tasks}/${id}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    return Number(fields[11]) + Number(fields[12]);
  });
  return ticks.reduce((sum, each) => sum + each, 0);
}

async function ticksInWindow(): Promise<number> {
  const before = processorTicks();
  await delay(WINDOW_MS);
  return processorTicks() - before;
}

describe.skipIf(!isLinux).each([
  ["the interpreter", () => nodeHost()],
  ["a trusted package", () => nodeHost({ trusted: [leftoverHash, moduleOf(spinning).hash] })],
])("the thread of %s, seen by the system", (_, makeHost) => {
  const used = async (use: (isolate: Isolate) => Promise<void>, tool = leftoverTool()): Promise<void> => {
    const host = makeHost();
    try {
      await use(await host.open(tool));
    } finally {
      await host.close();
    }
  };

  it("works while its tool spins", () =>
    used(async (isolate) => {
      void isolate.call(callWith(), quietPort);
      await expect.poll(ticksInWindow).toBeGreaterThan(0);
    }, moduleOf(spinning)));

  it.each(Object.keys(endings) as (keyof typeof endings)[])("rests after the outcome: %s", (ending) =>
    used(async (isolate) => {
      const controller = new AbortController();
      const port = { ...quietPort, signal: controller.signal, log: () => controller.abort(), write: async () => true };
      const { [ending.length % ways.length]: way = "promises" } = ways;
      await isolate.call(leaving(way, ending, 50), port);
      // A thread that spins never rests; one that has to collect its garbage does so once.
      await expect.poll(ticksInWindow).toBe(0);
    }),
  );

  it("rests after its tool was stopped", () =>
    used(async (isolate) => {
      const outcome = isolate.call(callWith(), quietPort);
      isolate.terminate("deadline");
      expect(await outcome).toMatchObject({ kind: "lost" });
      await expect.poll(ticksInWindow).toBe(0);
    }, moduleOf(spinning)));
});
