import type { CallPort, CapabilityRequest, IsolateOutcome } from "@keyhole/kernel";
import { type Engine, interpreterHost } from "@keyhole/worker-host/wasm/interpreter";
import { describe, expect, it } from "vitest";
import { callIn, callOf, FUEL, openBody, runBody, toolOfModule } from "./run-body.ts";

/** Several turns long. */
const work = "for (let i = 0; i < 500_000; i++);";

/** A port that says in which order things happen. */
function portOf(asked: string[]): CallPort {
  return {
    signal: new AbortController().signal,
    log: ({ message }) => asked.push(message),
    progress: () => {},
    request: async ({ arguments: { path } }: CapabilityRequest) => {
      asked.push(String(path));
      return { ok: true, value: null, body: new Uint8Array() };
    },
  };
}

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

/** A machine that computes on the thread of its kernel, where the engine can put a stack aside. */
export function describeTurns(makeEngine: () => Promise<Engine>): void {
  const host = async () => interpreterHost({ engine: await makeEngine() });

  describe("a tool that computes on its kernel's thread", () => {
    it("lets timers and other tools have their turn, and ends with its fuel all the same", async () => {
      const [long, short] = [await openBody(await host(), "for (;;);"), await openBody(await host(), "return 1")];
      let over = false;
      const computing = callIn(long).finally(() => (over = true));
      await turn();
      for (let i = 0; i < 3; i++) expect((await callIn(short)).outcome.kind).toBe("returned");
      expect(over).toBe(false);
      expect(await computing).toMatchObject({ outcome: { kind: "out-of-fuel" }, usage: { fuelUsed: FUEL } });
    });

    it("does nothing more once it was stopped, not even what came next", async () => {
      const asked: string[] = [];
      const isolate = await openBody(await host(), `${work} context.log("on"); await context.files.read("late")`);
      const stopped = isolate.call(callOf(), portOf(asked));
      await turn();
      isolate.terminate("deadline");
      expect(await stopped).toEqual({ kind: "lost", reason: "deadline" });
      // As long as it would have gone on for.
      await runBody(await host(), `${work} ${work}`);
      expect(asked).toEqual([]);
    });

    it("hears what it is told meanwhile afterwards, in order", async () => {
      const asked: string[] = [];
      const body = `context.log("begins " + input); if (input === 1) { ${work} } context.log("ends " + input); return null`;
      const isolate = await openBody(await host(), body);
      const port = portOf(asked);
      const first = isolate.call(callOf({ inputText: "1" }), port);
      await turn();
      const second = isolate.call(callOf({ inputText: "2" }), port);
      const outcomes: readonly IsolateOutcome[] = await Promise.all([first, second]);
      expect(outcomes.map(({ kind }) => kind)).toEqual(["returned", "returned"]);
      expect(asked).toEqual(["begins 1", "ends 1", "begins 2", "ends 2"]);
    });

    it("is not put aside, and goes on", async () => {
      const isolate = await (
        await host()
      ).open(toolOfModule(`export default { code: { async execute() { ${work} return "whole" } } }`));
      const outcome = isolate.call(callOf(), portOf([]));
      await turn();
      expect(await isolate.suspend?.()).toBe(undefined);
      expect(await outcome).toEqual({ kind: "returned", output: { form: "json", text: '"whole"' } });
    });

    it.each([
      ["a pattern that matches in exponential time", '/^(a+)+$/.test("a".repeat(40) + "b")'],
      ["an endless chain of promises", "for (;;) await null"],
      ["a generator without end", "for (const _ of (function* () { for (;;) yield; })());"],
      ["a proxy that never answers", "new Proxy({}, { get() { for (;;); } }).x"],
      ["a comparison without end", "[3, 2, 1].sort(() => { for (;;); })"],
      ["a getter of what is read as JSON", "return { get a() { for (;;); } }"],
    ])("is stopped in %s", async (_, body) => {
      const isolate = await openBody(await host(), body);
      const outcome = isolate.call(callOf({ fuel: 1e15 }), portOf([]));
      await turn();
      isolate.terminate("deadline");
      expect(await outcome).toEqual({ kind: "lost", reason: "deadline" });
    });
  });
}
