import { type Isolate, IsolateFailure, type IsolateHost } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { FakeClock } from "../support/fake-clock.ts";
import { counting, lifeOf } from "../support/isolate-life.ts";
import { moduleHost } from "../support/module-host.ts";
import { settled } from "../support/turns.ts";

describe("a start that takes longer than a call may", () => {
  async function starting() {
    const clock = new FakeClock();
    const one = counting("one");
    const modules = moduleHost(one);
    const start = Promise.withResolvers<void>();
    const open: IsolateHost["open"] = (tool) => start.promise.then(() => modules.open(tool));
    const { kernel } = await lifeOf([one], { clock }, { ...modules, open });
    const call = (timeoutMs: number) => kernel.call("one", {}, { sessionId: "s", bounds: { timeoutMs } });
    const [short, long] = [call(1_000), call(10_000)];
    let longEnd = "open";
    void long.then(() => (longEnd = "answered"));
    await settled();
    await clock.advance(1_000);
    return { short, long, start, longEnd: () => longEnd };
  }
  const late = { error: { code: "TIMEOUT", details: { timeoutMs: 1_000, waitedMs: 1_000 }, retryable: true } };

  it("answers that call at its deadline, and goes on for another one", async () => {
    const { short, long, start, longEnd } = await starting();
    expect(await short).toMatchObject(late);
    expect(longEnd()).toBe("open");
    start.resolve();
    expect(await long).toMatchObject({ ok: true, data: 1 });
  });

  it("and is ended by its host fails for the other one alone", async () => {
    const { short, long, start } = await starting();
    expect(await short).toMatchObject(late);
    start.reject(new IsolateFailure("TOOL_ERROR", "It did not load in time.", {}, "tool"));
    expect(await long).toMatchObject({ error: { code: "TOOL_ERROR", message: "It did not load in time." } });
  });
});

describe("a start that waits for its turn", () => {
  /** Starts wait until they are let go, and are asked for then. */
  async function queueing(more: Partial<IsolateHost> = {}, { asks = true, dies = false } = {}) {
    const clock = new FakeClock();
    const [one, other] = [counting("one"), counting("other")];
    const modules = moduleHost(one, other);
    const turns: (() => void)[] = [];
    const isolates: Isolate[] = [];
    const open: IsolateHost["open"] = async (tool, isWanted) => {
      await new Promise<void>((go) => turns.push(go));
      if (asks && isWanted?.() === false) throw new IsolateFailure("ISOLATE_LOST", "Nobody waits.", {}, "host");
      const isolate = await modules.open(tool);
      isolates.push(isolate);
      if (dies) isolate.terminate("It crashed.");
      return isolate;
    };
    const { kernel } = await lifeOf([one, other], { clock }, { ...more, open });
    const give = async (): Promise<void> => {
      for (const go of turns.splice(0)) go();
      await settled();
    };
    const call = (name: string, timeoutMs = 10_000) => kernel.call(name, {}, { sessionId: "s", bounds: { timeoutMs } });
    /** Calls that do not wait for their isolate's turn. */
    const leave = async (times: number): Promise<void> => {
      const calls = Array.from({ length: times }, () => call("one", 100));
      await settled();
      await clock.advance(100);
      for (const result of await Promise.all(calls)) expect(result).toMatchObject({ error: { code: "TIMEOUT" } });
    };
    return { kernel, modules, isolates, turns, give, call, leave };
  }

  it("is given up when nobody waits for it any more, and the next one is another", async () => {
    const { modules, turns, give, call, leave } = await queueing();
    for (let i = 0; i < 5; i++) {
      await leave(2);
      expect(turns).toHaveLength(1);
      await give();
    }
    expect(modules.opened).toEqual([]);
    // It is nobody's fault: nothing is in quarantine.
    const served = call("one");
    await settled();
    await give();
    expect(await served).toMatchObject({ ok: true, data: 1 });
  });

  it("is given up as well where it is for calls whose isolate had died", async () => {
    const { modules, isolates, turns, give, call, leave } = await queueing();
    const [served] = [call("one"), await settled(), await give()];
    expect(await served).toMatchObject({ ok: true });
    isolates[0]!.terminate("It crashed.");
    await leave(2);
    expect(turns).toHaveLength(1);
    await give();
    expect(modules.opened).toHaveLength(1);
  });

  it("is not followed by another one where its isolate is dead, and its call has ended", async () => {
    const { modules, turns, give, leave } = await queueing({}, { asks: false, dies: true });
    await leave(1);
    await give();
    expect([modules.opened.length, turns.length]).toEqual([1, 0]);
  });

  it("is for whoever comes before its turn", async () => {
    const { modules, turns, give, call, leave } = await queueing();
    await leave(2);
    const [first, second] = [call("one"), call("one")];
    await settled();
    expect(turns).toHaveLength(1);
    await give();
    expect([await first, await second]).toMatchObject([{ data: 1 }, { data: 2 }]);
    expect(modules.opened).toHaveLength(1);
  });

  it("gives its place back", async () => {
    const { give, call, leave } = await queueing({ capacity: 1 });
    await leave(1);
    const other = call("other");
    await settled();
    await give(); // Its turn, for nobody.
    await give();
    expect(await other).toMatchObject({ ok: true });
  });

  it("is wanted by a call that is cancelled and has its grace", async () => {
    const { kernel, modules, give } = await queueing();
    const caller = new AbortController();
    const call = kernel.call("one", {}, { signal: caller.signal });
    await settled();
    caller.abort();
    await give();
    expect(await call).toMatchObject({ error: { code: "CANCELLED" } });
    expect(modules.opened).toHaveLength(1);
  });
});
