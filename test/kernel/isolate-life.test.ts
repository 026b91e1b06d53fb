import { IsolateFailure, type IsolateHost, limits } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { FakeClock } from "../support/fake-clock.ts";
import { counting, lifeOf } from "../support/isolate-life.ts";
import { toolOf } from "../support/kernel.ts";
import { moduleHost } from "../support/module-host.ts";
import { settled } from "../support/turns.ts";

/** Holds its calls until they are let go, in order. */
function holding(name: string, concurrency = 64) {
  const waiting: (() => void)[] = [];
  const tool = toolOf(() => new Promise((resolve) => waiting.push(() => resolve(name))), {
    name,
    determinism: "external",
    bounds: { concurrency },
  });
  return { tool, waiting };
}

describe("whom an isolate serves again", () => {
  it.each([
    ["always", 1],
    ["session", 3],
    ["call", 4],
  ] as const)("is up to `reuse`: %s", async (reuse, isolates) => {
    const { kernel, modules } = await lifeOf([counting("subject")], { reuse: { subject: reuse } });
    await kernel.call("subject", {}, { caller: "ada", sessionId: "s" });
    await kernel.call("subject", {}, { caller: "ada", sessionId: "s" });
    await kernel.call("subject", {}, { caller: "ada", sessionId: "t" });
    await kernel.call("subject", {}, { caller: "eve", sessionId: "s" });
    expect(modules.opened).toHaveLength(isolates);
    if (reuse === "call") expect(modules.opened.every(({ terminated }) => terminated !== undefined)).toBe(true);
  });

  it("is its session by default, also where another tool is told otherwise", async () => {
    const { kernel, modules } = await lifeOf([counting("one"), counting("other")], { reuse: { other: "always" } });
    for (const name of ["one", "other"]) for (const sessionId of ["s", "t"]) await kernel.call(name, {}, { sessionId });
    expect(modules.opened.map(({ tool }) => tool)).toEqual(["one@1.0.0", "one@1.0.0", "other@1.0.0"]);
  });
});

describe("isolates that no call uses", () => {
  const usedInTurn = async (sessions: number, rounds: number, more: Partial<IsolateHost>) => {
    const { kernel, modules } = await lifeOf([counting("subject")], {}, more);
    for (let round = 0; round < rounds; round++)
      for (let n = 0; n < sessions; n++)
        expect(await kernel.call("subject", {}, { sessionId: `${n}` })).toMatchObject({ ok: true });
    return modules.opened.map(({ terminated }) => terminated);
  };

  it("serve their sessions again, also where more are open than the host runs at a time", async () => {
    const ends = await usedInTurn(200, 3, { capacity: 10, idleBytes: 200 * limits.isolateBytes });
    expect(ends).toEqual(Array.from({ length: 200 }, () => undefined));
  });

  it("hold as many bytes as their host says, then the longest idle one ends", async () => {
    const idleBytes = 2 * limits.isolateBytes;
    expect(await usedInTurn(2, 2, { idleBytes })).toEqual([undefined, undefined]);
    expect(await usedInTurn(3, 1, { idleBytes })).toEqual(["too much is idle", undefined, undefined]);
    expect(await usedInTurn(1, 2, { idleBytes: 0 })).toEqual(["too much is idle", "too much is idle"]);
  });

  it("hold 256 MiB where their host does not say", async () => {
    const most = limits.idleBytes / limits.isolateBytes;
    expect((await usedInTurn(most, 2, {})).length).toBe(most);
    expect((await usedInTurn(most + 1, 1, {})).filter((end) => end !== undefined)).toHaveLength(1);
  });
});

describe("a host's capacity", () => {
  it("is shared in turns: a flood for one tool does not starve another", async () => {
    const flood = holding("flood");
    const other = counting("other");
    const { kernel } = await lifeOf([flood.tool, other], {}, { capacity: 1 });
    const order: string[] = [];
    const call = (name: string, sessionId: string) =>
      kernel.call(name, {}, { sessionId }).then((result) => order.push(result.ok ? name : result.error.code));
    const all = Array.from({ length: 10 }, (_, i) => call("flood", `s${i}`));
    await settled();
    all.push(call("other", "s"));
    while (order.length < 11) {
      flood.waiting.shift()?.();
      await settled();
    }
    await Promise.all(all);
    // One was running, and one had its turn before.
    expect(order.indexOf("other")).toBeLessThanOrEqual(2);
    expect(order.filter((name) => name === "flood")).toHaveLength(10);
  });

  it("is not waited for by calls that have ended: they leave the queue", async () => {
    const clock = new FakeClock();
    const held = holding("held");
    const { kernel, modules } = await lifeOf([held.tool], { clock }, { capacity: 1 });
    const first = kernel.call("held", {}, { sessionId: "first" });
    await settled();
    const late = Array.from({ length: 5 }, (_, i) =>
      kernel.call("held", {}, { sessionId: `late${i}`, bounds: { timeoutMs: 100 } }),
    );
    await settled();
    await clock.advance(100);
    const message = "held@1.0.0 did not start within 100 ms: no isolate was ready for it.";
    for (const result of await Promise.all(late))
      expect(result).toMatchObject({ ok: false, error: { code: "TIMEOUT", message } });
    held.waiting[0]!();
    expect(await first).toMatchObject({ ok: true });
    await settled();
    expect(modules.opened).toHaveLength(1);
  });

  it("stays taken until the isolate is closed, and comes back on every way out", async () => {
    const clock = new FakeClock();
    const hang = holding("hang");
    const { kernel, modules } = await lifeOf([hang.tool, counting("next")], { clock }, { capacity: 1 });
    const lost = kernel.call("hang", {}, { bounds: { timeoutMs: 100 } });
    await settled();
    await clock.advance(100);
    expect(await lost).toMatchObject({ ok: false, error: { code: "TIMEOUT" } });
    expect(await kernel.call("next", {})).toMatchObject({ ok: true });
    expect(modules.opened[0]?.terminated).toBe("deadline");
  });

  it("does not hold up a kernel that closes", async () => {
    const held = holding("held");
    const { kernel } = await lifeOf([held.tool], {}, { capacity: 1 });
    const calls = ["a", "b"].map((sessionId) => kernel.call("held", {}, { sessionId }));
    await settled();
    await kernel.close();
    for (const result of await Promise.all(calls)) expect(result).toMatchObject({ ok: false });
  });
});

describe("quarantine", () => {
  /** Opens nothing until it is told to. */
  async function failing() {
    const clock = new FakeClock();
    const state = { broken: true, attempts: 0 };
    const subject = counting("subject");
    const good = moduleHost(subject);
    const life = await lifeOf(
      [subject],
      { clock },
      {
        open: (tool) => {
          state.attempts++;
          return state.broken ? Promise.reject(new IsolateFailure("ISOLATE_LOST", "It died.")) : good.open(tool);
        },
      },
    );
    const ask = async (caller = "ada") => {
      const result = await life.kernel.call("subject", {}, { caller, sessionId: `${state.attempts}` });
      return result.ok ? "ok" : `${result.error.message} ${result.error.hint}`;
    };
    return { ...life, clock, state, ask };
  }

  it("begins with the third failure in a row, says so, and ends", async () => {
    const { clock, state, ask } = await failing();
    for (let i = 0; i < 3; i++) expect(await ask()).toContain("It died.");
    expect(await ask()).toBe("subject@1.0.0 is in quarantine: its isolate failed 3 times in a row. Try again in 1 s.");
    expect(state.attempts).toBe(3);
    await clock.advance(999);
    expect(await ask()).toContain("quarantine");
    await clock.advance(1);
    state.broken = false;
    expect(await ask()).toBe("ok");
    state.broken = true;
    expect(await ask()).toContain("It died."); // Counted from the start again.
  });

  it("lasts twice as long after each further failure, up to a minute", async () => {
    const { clock, ask } = await failing();
    for (let i = 0; i < 3; i++) await ask();
    for (const seconds of [1, 2, 4, 8, 16, 32, 60, 60]) {
      expect(await ask()).toContain(`Try again in ${seconds} s.`);
      await clock.advance(seconds * 1_000);
      expect(await ask()).toContain("It died.");
    }
  });

  it("is the caller's own", async () => {
    const { state, ask } = await failing();
    for (let i = 0; i < 3; i++) await ask("eve");
    expect(await ask("eve")).toContain("quarantine");
    state.broken = false;
    expect(await ask("ada")).toBe("ok");
  });

  it("counts isolates that die under a call, and none that the kernel stopped", async () => {
    const clock = new FakeClock();
    const held = holding("held");
    const modules = moduleHost(held.tool);
    const isolates: Awaited<ReturnType<IsolateHost["open"]>>[] = [];
    const { kernel } = await lifeOf(
      [held.tool],
      { clock },
      {
        open: async (tool) => {
          const isolate = await modules.open(tool);
          isolates.push(isolate);
          return isolate;
        },
      },
    );
    for (let i = 0; i < 4; i++) {
      const controller = new AbortController();
      const stopped = kernel.call("held", {}, { signal: controller.signal });
      await settled();
      controller.abort();
      await clock.advance(limits.graceMs);
      expect(await stopped).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
    }
    for (let i = 0; i < 3; i++) {
      const dies = kernel.call("held", {});
      await settled();
      isolates.at(-1)!.terminate("it ran out of memory");
      expect(await dies).toMatchObject({ ok: false, error: { code: "ISOLATE_LOST" } });
    }
    expect(await kernel.call("held", {})).toMatchObject({
      ok: false,
      error: { code: "ISOLATE_LOST", message: expect.stringContaining("quarantine") as string },
    });
  });

  it("does not count isolates that ended with what their calls were allowed", async () => {
    const clock = new FakeClock();
    const subject = counting("subject");
    let opened = 0;
    const { kernel } = await lifeOf(
      [subject],
      { clock },
      {
        open: async () => {
          opened++;
          let alive = true;
          return {
            terminate: () => {},
            async call() {
              alive = false;
              return { kind: "out-of-fuel" };
            },
            get alive() {
              return alive;
            },
          };
        },
      },
    );
    for (let i = 0; i < 5; i++)
      expect(await kernel.call("subject", {}, { sessionId: "s" })).toMatchObject({ error: { code: "OUT_OF_FUEL" } });
    expect(opened).toBe(5);
  });
});

describe("a machine that is lost", () => {
  it("counts against no tool, whether it could not be opened or ended under a call", async () => {
    const subject = counting("subject");
    const lost = { kind: "lost", reason: "the machine is gone", blame: "host" } as const;
    let opens = true;
    const open: IsolateHost["open"] = async () => {
      if (!opens) throw new IsolateFailure("ISOLATE_LOST", "The machine is gone.", {}, "host");
      let alive = true;
      return {
        get alive() {
          return alive;
        },
        call: async () => {
          alive = false;
          return lost;
        },
        terminate: () => {},
      };
    };
    const { kernel, events } = await lifeOf([subject], {}, { open });
    for (let i = 0; i < 10; i++) {
      opens = i % 2 === 0;
      const result = await kernel.call("subject", {}, { caller: "ada", sessionId: `${i}` });
      expect(result).toMatchObject({
        error: { code: "ISOLATE_LOST", message: expect.not.stringContaining("quarantine") },
      });
    }
    expect((await events()).filter(({ type }) => type === "tool.quarantined")).toEqual([]);
  });
});
