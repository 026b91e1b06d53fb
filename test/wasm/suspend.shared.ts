import type { Isolate, IsolateHost } from "@keyhole/kernel";
import { type Engine, interpreterHost } from "@keyhole/worker-host/wasm/interpreter";
import { beforeAll, describe, expect, it } from "vitest";
import { suspended } from "virtual:suspended-on-node";
import { callOf } from "./run-body.ts";
import { textOf, waitingPort, waitingTool } from "./waiting-call.ts";

/** Isolates that are put aside while their call waits, and go on elsewhere. */
export function describeSuspension(makeEngine: () => Promise<Engine>): void {
  const fresh = async (): Promise<IsolateHost> => interpreterHost({ engine: await makeEngine() });
  const thawed = async (snapshot: Uint8Array<ArrayBuffer>): Promise<Isolate> =>
    (await fresh()).thaw!(waitingTool, snapshot);
  let snapshot: Uint8Array<ArrayBuffer>;
  beforeAll(() => {
    snapshot = Uint8Array.from(atob(suspended.snapshot), (character) => character.charCodeAt(0));
  });

  describe("a suspended isolate", () => {
    it("of a process of Node goes on here: same outcome, fuel, memory, requests and log lines", async () => {
      expect(await (await fresh()).snapshotKind!()).toBe(suspended.snapshotKind);
      const port = waitingPort();
      const isolate = await thawed(snapshot);
      expect(await isolate.call(suspended.call, port)).toEqual(suspended.whole.outcome);
      expect(port.usage()).toEqual(suspended.whole.usage);
      // The two that were not answered are asked again, before the third.
      expect(port.asked.map(textOf)).toEqual(suspended.whole.asked);
      expect(["begun", ...port.logs]).toEqual(suspended.whole.logs);
      expect(isolate.alive).toBe(true);
      // Its memory serves the next call of its session, as if it had never been away.
      expect(await isolate.call(callOf(), waitingPort())).toMatchObject({ kind: "returned" });
    });

    it("costs the same however often it is put aside", async () => {
      const first = waitingPort(0);
      const isolate = await (await fresh()).open(waitingTool);
      const { call } = suspended;
      const lost = isolate.call(call, first);
      await first.untilAsked(2);
      let bytes = (await isolate.suspend!())!;
      isolate.terminate("the call was suspended");
      expect(await lost).toEqual({ kind: "lost", reason: "the call was suspended" });
      // One answer each, and aside again.
      const asked: string[] = [];
      for (const [answers, waits] of [
        [1, 2],
        [1, 2],
      ] as const) {
        const port = waitingPort(answers);
        const again = await thawed(bytes);
        void again.call(call, port);
        await port.untilAsked(waits);
        bytes = (await again.suspend!())!;
        asked.push(...port.asked.slice(0, answers).map(textOf));
      }
      const port = waitingPort();
      expect(await (await thawed(bytes)).call(call, port)).toEqual(suspended.whole.outcome);
      expect([...asked, ...port.asked.map(textOf)]).toEqual(suspended.whole.asked);
      expect(port.usage().peakMemoryBytes).toBe(suspended.whole.usage.peakMemoryBytes);
    });

    it("has what is left of its fuel, and not one more", async () => {
      const needed = suspended.whole.usage.fuelUsed!;
      const endOf = async (fuel: number): Promise<string> => {
        const call = { ...suspended.call, fuel };
        const isolate = await (await fresh()).open(waitingTool);
        const port = waitingPort(0);
        void isolate.call(call, port);
        await port.untilAsked(2);
        const again = await thawed((await isolate.suspend!())!);
        return (await again.call(call, waitingPort())).kind;
      };
      expect([await endOf(needed), await endOf(needed - 1)]).toEqual(["returned", "out-of-fuel"]);
    });
  });

  describe("an isolate that cannot be suspended", () => {
    it("says so, and goes on", async () => {
      const isolate = await (await fresh()).open(waitingTool);
      expect(await isolate.suspend!()).toBeUndefined();
      const ports = [waitingPort(0), waitingPort(0)];
      for (const port of ports) void isolate.call(callOf(), port);
      await Promise.all(ports.map((port) => port.untilAsked(2)));
      expect(await isolate.suspend!()).toBeUndefined();
      expect(isolate.alive).toBe(true);
    });
  });
}
