import { createKernel, type IsolateHost, limits } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { FakeClock, settle } from "../support/fake-clock.ts";
import { expectSoundLog, openKernel, openPolicy, toolOf } from "../support/kernel.ts";
import { moduleHost, packed } from "../support/module-host.ts";

/** A pure tool whose runs are counted from outside, and that waits where it is told to. */
function counted(more: Record<string, unknown> = {}, output: (input: never) => unknown = (input) => ({ input })) {
  const state = { runs: 0, hold: undefined as Promise<unknown> | undefined };
  const tool = toolOf(async (input: never) => {
    state.runs++;
    await state.hold;
    return output(input);
  }, more);
  return { tool, state };
}

async function open(more: Record<string, unknown> = {}, options: Record<string, unknown> = {}, output?: () => unknown) {
  const { tool, state } = counted(more, output);
  const bench = await openKernel({ host: moduleHost(tool), ...options });
  expect(bench.kernel.register(packed(tool))).toMatchObject({ ok: true });
  return { ...bench, state, tool };
}

describe("the cache of pure results", () => {
  it("answers an equal call, which has its own decision, proof and events", async () => {
    const { kernel, state, events } = await open();
    const first = await kernel.call("subject", { a: 1, b: 2 }, { caller: "ada" });
    const second = await kernel.call("subject", { b: 2, a: 1 }, { caller: "eve" });
    expect(second).toMatchObject({ ok: true, data: { input: { a: 1 } }, meta: { cached: true, attempts: 0 } });
    expect(first.ok && second.ok && first.hash === second.hash).toBe(true);
    expect(state.runs).toBe(1);
    expect(second.proof?.callId).toBe(second.callId);
    const types = (await events()).filter(({ callId }) => callId === second.callId).map(({ type }) => type);
    expect(types).toEqual(["call.invoked", "capability.checked", "policy.decided", "result.reused", "tool.completed"]);
    await expectSoundLog(kernel);
  });

  it.each([
    ["another input", {}, { a: 2 }, {}],
    ["a caller who does not want it", {}, { a: 1 }, { cache: false }],
    ["a kernel without it", { cache: false }, { a: 1 }, {}],
  ])("does not answer %s", async (_, options, input, more) => {
    const { kernel, state } = await open({}, options);
    await kernel.call("subject", { a: 1 });
    expect(await kernel.call("subject", input, more)).toMatchObject({ ok: true, meta: { cached: false } });
    expect(state.runs).toBe(2);
  });

  it("does not answer for tools that are not pure, nor for those of this realm, whose digest is not over their code", async () => {
    const { kernel, state } = await open({ determinism: "seeded" });
    for (let i = 0; i < 2; i++) await kernel.call("subject", {});
    expect(state.runs).toBe(2);
    const inline = counted({ name: "inline" });
    kernel.registerTrusted(inline.tool);
    for (let i = 0; i < 2; i++) await kernel.call("inline", {});
    expect(inline.state.runs).toBe(2);
  });

  it("does not answer for the same name and version with other code", async () => {
    const { tool, state } = counted();
    const host = moduleHost(tool);
    for (const code of ["one", "two"]) {
      const kernel = await createKernel({ policy: openPolicy, host, clock: new FakeClock() });
      kernel.register(packed(tool, code));
      await kernel.call("subject", {});
    }
    expect(state.runs).toBe(2);
    const { kernel } = await openKernel({ host });
    kernel.register(packed(tool, "one"));
    const next = counted({ version: "1.0.1" });
    kernel.register(packed(next.tool, "one"));
    await kernel.call("subject", {}, { version: "1.0.0" });
    expect(await kernel.call("subject", {}, { version: "1.0.1" })).toMatchObject({ meta: { cached: false } });
  });

  it("keeps no failure", async () => {
    let runs = 0;
    const tool = toolOf(() => {
      if (++runs === 1) throw new Error("once");
      return runs;
    });
    const { kernel } = await openKernel({ host: moduleHost(tool) });
    kernel.register(packed(tool));
    expect(await kernel.call("subject", {})).toMatchObject({ ok: false });
    expect(await kernel.call("subject", {})).toMatchObject({ ok: true, data: 2 });
  });

  it("gives copies: what one caller does to a result, no other sees", async () => {
    const { kernel } = await open({}, {}, () => ({ list: [1] }));
    const first = await kernel.call("subject", {});
    if (first.ok) (first.data as { list: number[] }).list.push(2);
    const second = await kernel.call("subject", {});
    expect(second).toMatchObject({ ok: true, data: { list: [1] }, meta: { cached: true } });
    if (second.ok) (second.data as { list: number[] }).list.push(3);
    expect(await kernel.call("subject", {})).toMatchObject({ data: { list: [1] } });
  });

  it.each([
    ["bytes", { output: { kind: "binary" } }, () => new Uint8Array([1, 2])],
    ["bytes handed over", { output: { kind: "binary", transfer: true } }, () => new Uint8Array([1, 2])],
    ["text", { output: { kind: "text" } }, () => "a\r\nb"],
  ])("gives %s as they were", async (_, more, output) => {
    const { kernel, state } = await open(more, {}, output);
    const first = await kernel.call("subject", {});
    const data = first.ok ? first.data : undefined;
    const expected = data instanceof Uint8Array ? new Uint8Array(data) : data;
    if (data instanceof Uint8Array) data.fill(9);
    const second = await kernel.call("subject", {});
    expect(second.ok && second.data).toEqual(expected);
    expect(state.runs).toBe(1);
  });

  it("holds so many results, the longest unused go first", async () => {
    const { kernel, state } = await open({ bounds: { callsPerHour: 100_000 } });
    for (let i = 0; i < limits.cachedResults; i++) await kernel.call("subject", { i });
    await kernel.call("subject", { i: 0 });
    await kernel.call("subject", { i: limits.cachedResults });
    expect(state.runs).toBe(limits.cachedResults + 1);
    await kernel.call("subject", { i: 0 });
    expect(state.runs).toBe(limits.cachedResults + 1);
    await kernel.call("subject", { i: 1 });
    expect(state.runs).toBe(limits.cachedResults + 2);
  });

  it("holds so many bytes", async () => {
    const half = "x".repeat(limits.cachedBytes / 2);
    const { kernel, state } = await open({ bounds: { outputBytes: limits.cachedBytes } }, {}, () => half);
    for (const i of [0, 1, 1]) await kernel.call("subject", { i });
    expect(state.runs).toBe(2);
    await kernel.call("subject", { i: 0 });
    expect(state.runs).toBe(3);
  });

  it("gives nothing that is larger than the caller wants", async () => {
    const { kernel } = await open({}, {}, () => "x".repeat(100));
    await kernel.call("subject", {});
    expect(await kernel.call("subject", {}, { bounds: { outputBytes: 101 } })).toMatchObject({
      ok: false,
      error: { code: "BOUNDS_EXCEEDED", details: { bound: "outputBytes", limit: 101 } },
    });
    expect(await kernel.call("subject", {}, { bounds: { outputBytes: 102 } })).toMatchObject({ ok: true });
    await expectSoundLog(kernel);
  });

  it.each([
    ["the cache", {}],
    ["a key", { idempotencyKey: "k", cache: false }],
  ])("gives nothing out of %s that is larger than a later policy lets through", async (_, options) => {
    const { kernel, state } = await open({}, {}, () => "x".repeat(100));
    const bounded = (outputBytes: number) =>
      kernel.setPolicy({ version: "1", posture: "permissive", tools: { subject: { bounds: { outputBytes } } } });
    expect(await kernel.call("subject", {}, options)).toMatchObject({ ok: true });
    expect(await bounded(101)).toMatchObject({ ok: true });
    const refusal = { code: "BOUNDS_EXCEEDED", details: { bound: "outputBytes", limit: 101 } };
    expect(await kernel.call("subject", {}, options)).toMatchObject({ ok: false, error: refusal });
    expect(await bounded(102)).toMatchObject({ ok: true });
    expect(await kernel.call("subject", {}, options)).toMatchObject({ ok: true, meta: { cached: true } });
    expect(state.runs).toBe(1);
    await expectSoundLog(kernel);
  });
});

describe("equal pure calls at the same time", () => {
  async function begin(count: number, more: Record<string, unknown> = {}) {
    const bench = await open({ bounds: { concurrency: 1 }, ...more });
    let go: () => void = () => {};
    bench.state.hold = new Promise<void>((resolve) => (go = resolve));
    const controllers = Array.from({ length: count }, () => new AbortController());
    const calls = controllers.map(({ signal }) => bench.kernel.call("subject", {}, { signal }));
    await settle();
    return { ...bench, go, calls, abort: (index: number) => controllers[index]!.abort() };
  }

  it("run once, and each has its own end", async () => {
    const { kernel, state, calls, go } = await begin(20);
    go();
    const results = await Promise.all(calls);
    expect(results.filter(({ ok }) => ok)).toHaveLength(20);
    expect(results.filter(({ meta }) => meta.cached)).toHaveLength(19);
    expect(state.runs).toBe(1);
    expect(new Set(results.map(({ proof }) => proof?.proofId)).size).toBe(20);
    await expectSoundLog(kernel);
  });

  it("are not cancelled with one of them that waits", async () => {
    const { calls, go, abort, state } = await begin(3);
    abort(2);
    expect(await calls[2]).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
    go();
    expect((await Promise.all(calls)).filter(({ ok }) => ok)).toHaveLength(2);
    expect(state.runs).toBe(1);
  });

  it("are not cancelled with the one that runs: the next one does", async () => {
    const { calls, go, abort, clock, state, kernel } = await begin(5);
    abort(0);
    await clock.advance(limits.graceMs);
    expect(await calls[0]).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
    go();
    const results = await Promise.all(calls);
    expect(results.filter(({ ok }) => ok)).toHaveLength(4);
    expect(state.runs).toBe(2);
    await expectSoundLog(kernel);
  });

  it("share the failure of the one run, and nobody gets it later", async () => {
    const { calls, clock, state, kernel } = await begin(3, { bounds: { concurrency: 1, timeoutMs: 50 } });
    await clock.advance(50);
    const codes = (await Promise.all(calls)).map((result) => !result.ok && result.error.code);
    expect(codes).toEqual(["TIMEOUT", "TIMEOUT", "TIMEOUT"]);
    expect(state.runs).toBe(1);
    state.hold = undefined;
    expect(await kernel.call("subject", {})).toMatchObject({ ok: true });
  });

  it("each run for themselves where a caller has bounds of its own", async () => {
    const { calls, clock, state, kernel, go } = await begin(1, { bounds: { concurrency: 4 } });
    const short = kernel.call("subject", {}, { bounds: { timeoutMs: 10 } });
    await clock.advance(10);
    expect(await short).toMatchObject({ ok: false, error: { code: "TIMEOUT" } });
    go();
    expect(await calls[0]).toMatchObject({ ok: true });
    expect(state.runs).toBe(2);
  });
});

it("a broken host breaks nobody who waits for it", async () => {
  const { tool } = counted();
  const host: IsolateHost = { ...moduleHost(tool), open: () => Promise.reject(new Error("bug")) };
  const { kernel } = await openKernel({ host });
  kernel.register(packed(tool));
  const results = await Promise.all([kernel.call("subject", {}), kernel.call("subject", {})]);
  expect(results.map((result) => !result.ok && result.error.code)).toEqual(["INTERNAL", "INTERNAL"]);
  await expectSoundLog(kernel);
});
