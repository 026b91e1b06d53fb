import type { CallOptions, Tool } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { openKernel, toolOf } from "../support/kernel.ts";
import { registerAny } from "../support/registered.ts";
import { FakeClock, settle } from "../support/fake-clock.ts";
import { counting, lifeOf } from "../support/isolate-life.ts";

/** A kernel with a tool that does not end while it is told not to. */
async function opened(more: Record<string, unknown> = {}) {
  const state = { hangs: true };
  const subject = toolOf(() => (state.hangs ? new Promise(() => {}) : "done"), {
    determinism: "external",
    bounds: { timeoutMs: 2_000 },
    ...more,
  });
  const bench = await openKernel();
  const register = (tool: Tool): void => void registerAny(bench.kernel, tool);
  register(subject);
  const call = async (options: CallOptions = {}, timeoutMs = 2_000, name = "subject"): Promise<string> => {
    const pending = bench.kernel.call(name, {}, { caller: "ada", ...options });
    await settle();
    await bench.clock.advance(timeoutMs);
    const result = await pending;
    return result.ok ? "ok" : result.error.code;
  };
  const answer = async (options: CallOptions = {}) => {
    const result = await bench.kernel.call("subject", {}, { caller: "ada", ...options });
    return result.ok ? "ok" : result.error;
  };
  return { ...bench, state, call, answer, register };
}

describe("a tool that times out again and again", () => {
  it("is set aside with the third time in a row, and nothing of it starts for that caller", async () => {
    const { call, answer, events, state } = await opened();
    for (let i = 0; i < 3; i++) expect(await call()).toBe("TIMEOUT");
    expect(await answer()).toMatchObject({
      code: "TOOL_SET_ASIDE",
      message: "subject@1.0.0 is set aside: it timed out 3 times in a row.",
      details: { timeouts: 3, retryAfterMs: 2_000 },
      hint: "Try again in 2 s.",
      retryable: true,
    });
    const log = await events();
    expect(log.filter(({ type }) => type === "tool.started")).toHaveLength(3);
    expect(log.at(-1)).toMatchObject({ type: "tool.blocked", payload: { code: "TOOL_SET_ASIDE" } });
    expect(log.filter(({ type }) => type === "tool.quarantined").map(({ payload }) => payload)).toMatchObject([
      { tool: "subject@1.0.0", caller: "ada", cause: "timeouts", failures: 3, restMs: 2_000 },
    ]);
    state.hangs = false;
    expect(await answer({ caller: "eve" })).toBe("ok");
  });

  it("is set aside for all when three callers in a row wait in vain, and not for timeouts of one of them", async () => {
    const { call, answer, clock, events } = await opened();
    for (let i = 0; i < 10; i++) {
      expect(await call({ caller: "mallory" })).toBe("TIMEOUT");
      await clock.advance(900_000);
      expect(await call({ caller: "eve" })).toBe("TIMEOUT");
    }
    expect(await call({ caller: "ben" })).toBe("TIMEOUT");
    expect(await answer({ caller: "ada" })).toMatchObject({ code: "TOOL_SET_ASIDE", details: { timeouts: 3 } });
    const rests = (await events()).filter(({ type }) => type === "tool.quarantined").map(({ payload }) => payload);
    expect(rests.filter((rest) => !("caller" in rest))).toMatchObject([{ failures: 3, restMs: 2_000 }]);
    await clock.advance(2_000);
    expect(await call({ caller: "ben" })).toBe("TIMEOUT");
    expect(await call({ caller: "ada" })).toBe("TIMEOUT");
    expect(await answer({ caller: "zoe" })).toMatchObject({ details: { timeouts: 4, retryAfterMs: 4_000 } });
  });

  it("rests as long as it took, and twice as long after each further time, up to 15 minutes", async () => {
    const { call, answer, clock } = await opened({ bounds: { timeoutMs: 30_000 } });
    for (let i = 0; i < 2; i++) await call({}, 30_000);
    for (const seconds of [30, 60, 120, 240, 480, 900, 900]) {
      expect(await call({}, 30_000)).toBe("TIMEOUT");
      await clock.advance(seconds * 1_000 - 1);
      expect(await answer()).toMatchObject({ code: "TOOL_SET_ASIDE", hint: "Try again in 1 s." });
      await clock.advance(1);
    }
  });

  it("rests a second at least", async () => {
    const { call, answer } = await opened({ bounds: { timeoutMs: 10 } });
    for (let i = 0; i < 3; i++) await call({}, 10);
    expect(await answer()).toMatchObject({ details: { retryAfterMs: 1_000 } });
  });

  it("is let in again by calls that end well, one for each time", async () => {
    const { call, state, clock } = await opened();
    const turn = async (hangs: boolean): Promise<string> => {
      state.hangs = hangs;
      return call();
    };
    // Two in three do not end: in a row they never are.
    const seen: string[] = [];
    for (const hangs of [true, true, false, true, true]) seen.push(await turn(hangs));
    expect(seen).toEqual(["TIMEOUT", "TIMEOUT", "ok", "TIMEOUT", "TIMEOUT"]);
    expect(await turn(false)).toBe("TOOL_SET_ASIDE");
    await clock.advance(2_000);
    for (let i = 0; i < 3; i++) expect(await turn(false)).toBe("ok");
    expect([await turn(true), await turn(true)]).toEqual(["TIMEOUT", "TIMEOUT"]);
    expect(await turn(false)).toBe("ok");
  });

  it("is forgotten when it was long ago", async () => {
    const { call, clock, answer, state } = await opened();
    for (let i = 0; i < 2; i++) await call();
    await clock.advance(3_600_000);
    expect(await call()).toBe("TIMEOUT");
    state.hangs = false;
    expect(await answer()).toBe("ok");
  });

  it("is set aside as this version alone", async () => {
    const { call, register } = await opened();
    register(toolOf(() => "newer", { version: "1.0.1" }));
    const older = { version: "1.0.0" };
    for (let i = 0; i < 3; i++) await call(older);
    expect(await call(older)).toBe("TOOL_SET_ASIDE");
    expect(await call()).toBe("ok");
  });

  it("lets no call run that waited for its slot meanwhile", async () => {
    const { kernel, clock, events } = await opened({ bounds: { timeoutMs: 2_000, concurrency: 1 } });
    const calls = Array.from({ length: 6 }, () => kernel.call("subject", {}, { waitMs: 60_000 }));
    await clock.advance(60_000);
    const codes = (await Promise.all(calls)).map((result) => (result.ok ? "ok" : result.error.code));
    expect(codes.toSorted()).toEqual([...Array<string>(3).fill("TIMEOUT"), ...Array<string>(3).fill("TOOL_SET_ASIDE")]);
    expect((await events()).filter(({ type }) => type === "tool.quarantined")).toHaveLength(1);
  });
});

describe("what a caller makes of a tool is its own", () => {
  const taking = { body: {}, execute: () => new Promise(() => {}) };
  const giving = {
    output: { kind: "stream" },
    *execute() {
      yield new Uint8Array(1);
    },
  };
  const silent = (): WritableStream<Uint8Array> => new WritableStream({ write: () => new Promise(() => {}) });
  it.each<[string, Record<string, unknown>, () => CallOptions, number]>([
    ["a deadline that it lowered", {}, () => ({ bounds: { timeoutMs: 1_000 } }), 1_000],
    ["a body that does not end", taking, () => ({ body: new ReadableStream() }), 2_000],
    ["a stream that it does not take", giving, () => ({ output: silent() }), 2_000],
  ])("%s", async (_, more, options, timeoutMs) => {
    const { call } = await opened(more);
    for (let i = 0; i < 3; i++) expect(await call({ caller: "eve", ...options() }, timeoutMs)).toBe("TIMEOUT");
    expect(await call({ caller: "eve", ...options() }, 0)).toBe("TOOL_SET_ASIDE");
    expect(await call({ caller: "ada", ...options() }, timeoutMs)).toBe("TIMEOUT");
  });
});

it("a program that a caller brings sets its tool aside for that caller alone", async () => {
  const clock = new FakeClock();
  const input = { type: "object", properties: { code: { type: "string" } } };
  const subject = toolOf(() => new Promise(() => {}), { determinism: "external", input, program: "code" });
  const { kernel } = await lifeOf([subject], { clock });
  const codes: string[] = [];
  for (const caller of ["eve", "eve", "eve", "eve", "ada"]) {
    const pending = kernel.call("subject", { code: `${codes.length}` }, { caller });
    await settle();
    await clock.advance(10_000);
    const result = await pending;
    codes.push(result.ok ? "ok" : result.error.code);
  }
  expect(codes).toEqual(["TIMEOUT", "TIMEOUT", "TIMEOUT", "TOOL_SET_ASIDE", "TIMEOUT"]);
});

it("a tool whose isolate was not ready in time has done nothing", async () => {
  const clock = new FakeClock();
  const subject = counting("subject");
  const { kernel } = await lifeOf([subject], { clock }, { open: () => new Promise(() => {}) });
  for (let i = 0; i < 5; i++) {
    const pending = kernel.call("subject", {}, { sessionId: `${i}` });
    await settle();
    await clock.advance(10_000);
    expect(await pending).toMatchObject({
      error: { code: "TIMEOUT", retryable: true, details: { timeoutMs: 10_000, waitedMs: 10_000 } },
    });
  }
});

it.each([
  ["waits for its machine has done nothing", 0, "TIMEOUT", { waitedMs: 10_000 }],
  ["waits for its machine longer than it runs has done nothing", 4_999, "TIMEOUT", { waitedMs: 5_001 }],
  ["runs for as long as it waited is set aside", 5_000, "TOOL_SET_ASIDE", {}],
  ["has begun there at once is set aside", undefined, "TOOL_SET_ASIDE", {}],
] as const)("a tool whose call %s", async (_, ranMs, code, details) => {
  const clock = new FakeClock();
  const isolate = {
    call: () => new Promise<never>(() => {}),
    ranMs: () => ranMs,
    terminate: () => {},
    alive: true,
  };
  const { kernel } = await lifeOf([counting("subject")], { clock }, { open: async () => isolate });
  const codes: string[] = [];
  for (let i = 0; i < 4; i++) {
    const pending = kernel.call("subject", {}, { sessionId: `${i}` });
    await settle();
    await clock.advance(10_000);
    const result = await pending;
    codes.push(result.ok ? "ok" : result.error.code);
    if (i < 3)
      expect(result).toMatchObject({ error: { retryable: ranMs === 0, details: { timeoutMs: 10_000, ...details } } });
  }
  expect(codes.at(-1)).toBe(code);
});
