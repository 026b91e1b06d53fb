import type { Isolate } from "@keyhole/kernel";
import { nodeHost } from "@keyhole/worker-host/node";
import { describe, expect, it } from "vitest";
import { callWith, moduleOf, quietPort } from "../browser/open.ts";
import { endings, leaving, leftoverHash, leftoverTool, ways } from "../contract/isolate-quiet.ts";
import { countsThreads, ticksInWindow, untilQuiet } from "./thread-ticks.ts";

const spinning = "export default { code: { execute() { for (;;); } } };";

describe.skipIf(!countsThreads).each([
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
      await untilQuiet();
    }),
  );

  it("rests after its tool was stopped", () =>
    used(async (isolate) => {
      const outcome = isolate.call(callWith(), quietPort);
      isolate.terminate("deadline");
      expect(await outcome).toMatchObject({ kind: "lost" });
      await untilQuiet();
    }, moduleOf(spinning)));
});
