import { type Engine, type InterpreterHost, interpreterHost } from "@keyhole/worker-host/wasm/interpreter";
import { beforeAll, describe, expect, it } from "vitest";
import { suspended } from "virtual:suspended-on-node";
import { callOf } from "./run-body.ts";
import { testKey, textOf, waitingPort, waitingTool } from "./waiting-call.ts";

/** Calls that are put aside while they wait, and go on elsewhere. */
export function describeSuspension(makeEngine: () => Promise<Engine>): void {
  const fresh = async (): Promise<InterpreterHost> =>
    interpreterHost({ engine: await makeEngine(), suspension: { key: testKey } });
  let snapshot: Uint8Array<ArrayBuffer>;
  beforeAll(() => {
    snapshot = Uint8Array.from(atob(suspended.snapshot), (character) => character.charCodeAt(0));
  });

  describe("a suspended call", () => {
    it("of a process of Node goes on here: same outcome, fuel, memory, requests and log lines", async () => {
      const port = waitingPort();
      const resumed = await (await fresh()).resume(waitingTool, snapshot, port);
      if (!resumed.ok) throw new Error(resumed.message);
      expect(await resumed.outcome).toEqual(suspended.whole.outcome);
      expect(port.usage()).toEqual(suspended.whole.usage);
      // The two that were not answered are asked again, before the third.
      expect(port.asked.map(textOf)).toEqual(suspended.whole.asked);
      expect(["begun", ...port.logs]).toEqual(suspended.whole.logs);
      expect(resumed.isolate.alive).toBe(true);
    });

    it("costs the same however often it is put aside", async () => {
      const call = callOf();
      const first = waitingPort(0);
      const isolate = await (await fresh()).open(waitingTool);
      const lost = isolate.call(call, first);
      await first.untilAsked(2);
      let suspension = await isolate.suspend();
      expect(await lost).toEqual({ kind: "lost", reason: "the call was suspended" });
      expect(isolate.alive).toBe(false);
      // One answer each, and aside again.
      const asked: string[] = [];
      for (const [answers, waits] of [
        [1, 2],
        [1, 2],
      ] as const) {
        if (!suspension.ok) throw new Error(suspension.message);
        const port = waitingPort(answers);
        const resumed = await (await fresh()).resume(waitingTool, suspension.bytes, port);
        if (!resumed.ok) throw new Error(resumed.message);
        void resumed.outcome;
        await port.untilAsked(waits);
        suspension = await resumed.isolate.suspend();
        asked.push(...port.asked.slice(0, answers).map(textOf));
      }
      if (!suspension.ok) throw new Error(suspension.message);
      expect(suspension.outstanding.map(({ operation }) => operation)).toEqual(["write"]);
      const port = waitingPort();
      const resumed = await (await fresh()).resume(waitingTool, suspension.bytes, port);
      if (!resumed.ok) throw new Error(resumed.message);
      expect(await resumed.outcome).toEqual(suspended.whole.outcome);
      expect([...asked, ...port.asked.map(textOf)]).toEqual(suspended.whole.asked);
      expect(port.usage().peakMemoryBytes).toBe(suspended.whole.usage.peakMemoryBytes);
    });
  });
}
