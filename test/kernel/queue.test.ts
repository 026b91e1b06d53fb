import type { AuditEvent, CallOptions } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import calculator from "../../packages/worker-host/src/tools/calculator.ts";
import { settle } from "../support/fake-clock.ts";
import { expectSoundLog, openKernel, openPolicy, toolOf } from "../support/kernel.ts";

const read = { kind: "kv.read", keys: ["*"] } as const;
const reads = { capabilities: [read], effects: ["kv.read"], determinism: "external" };

/** A tool whose calls run until they are let go, and the order in which they began. */
async function open(bounds: object = { concurrency: 1 }, more: object = {}) {
  const policy = { ...openPolicy, grants: [{ tool: "subject", capability: read }] };
  const bench = await openKernel({ policy });
  const order: string[] = [];
  const running: (() => void)[] = [];
  const body = ({ n }: { n: string }) => (order.push(n), new Promise((end) => running.push(() => end(n))));
  bench.kernel.registerTrusted(toolOf(body, { bounds, ...more }));
  const call = async (n: string, options: CallOptions = {}) => {
    const result = bench.kernel.call("subject", { n }, { onEvent: (event) => heard.push(event), ...options });
    await settle();
    return { result };
  };
  const heard: AuditEvent[] = [];
  const next = async (): Promise<void> => {
    running.shift()!();
    await settle();
  };
  const drain = async (): Promise<void> => {
    while (running.length > 0) await next();
  };
  const queued = () => heard.flatMap((event) => (event.type === "call.queued" ? [event.payload] : []));
  return { ...bench, call, order, next, drain, heard, queued };
}

describe("calls above the concurrency of a tool", () => {
  it("all succeed by default: eight parallel calls of one client", async () => {
    const { kernel, events } = await openKernel();
    expect(kernel.registerTrusted(calculator)).toMatchObject({ ok: true });
    const calls = Array.from({ length: 8 }, (_, n) =>
      kernel.call("calculator", { expression: `${n} * ${n}` }, { caller: "model", sessionId: "s" }),
    );
    expect((await Promise.all(calls)).map((result) => result.ok && result.data)).toEqual(
      Array.from({ length: 8 }, (_, n) => ({ value: n * n })),
    );
    expect((await events()).filter(({ type }) => type === "call.queued")).toHaveLength(4);
    await expectSoundLog(kernel);
  });

  it("wait as long as their own deadline by default, at most 30 s, and the log has the wait and the position", async () => {
    const { kernel, call, queued, drain } = await open({ concurrency: 1, timeoutMs: 900_000 });
    await call("1");
    await call("2");
    await call("3", { bounds: { timeoutMs: 700 } });
    await call("4", { waitMs: 5 });
    expect(queued()).toEqual([
      { position: 1, waitMs: 30_000 },
      { position: 2, waitMs: 700 },
      { position: 3, waitMs: 5 },
    ]);
    await drain();
    await expectSoundLog(kernel);
  });

  it("end as RATE_LIMITED after the wait, with the bound, its limit, the position and the time until a slot is free", async () => {
    const { kernel, clock, call, order, drain } = await open({ concurrency: 1, timeoutMs: 60_000 });
    await call("1");
    await call("2", { waitMs: 50_000 });
    const { result } = await call("3", { waitMs: 1_000 });
    await clock.advance(1_000);
    expect(await result).toMatchObject({
      error: {
        code: "RATE_LIMITED",
        retryable: true,
        details: { bound: "concurrency", limit: 1, position: 2, retryAfterMs: 59_000 },
        hint: "Try again in 59 s.",
      },
      meta: { queuedMs: 1_000 },
    });
    await drain();
    expect(order).toEqual(["1", "2"]);
    expect(clock.pendingTimers).toBe(1); // Idle isolates; no wait is left.
    await expectSoundLog(kernel);
  });

  it("are refused at once with a waitMs of 0, and no event says that they waited", async () => {
    const { call, queued, drain } = await open({ concurrency: 1, timeoutMs: 60_000 });
    await call("1");
    await call("2");
    expect(await (await call("3", { waitMs: 0 })).result).toMatchObject({
      error: { details: { bound: "concurrency", limit: 1, position: 2, retryAfterMs: 60_000 } },
      meta: { queuedMs: 0 },
    });
    expect(queued()).toHaveLength(1);
    await drain();
  });

  it.each([-1, 0.5, 900_001, Infinity, NaN, "1"])("are refused with %s as waitMs", async (waitMs) => {
    const { call } = await open();
    const { result } = await call("1", { waitMs: waitMs as number });
    expect(await result).toMatchObject({ error: { code: "INVALID_INPUT" } });
  });
});

describe("the queue of a tool", () => {
  it("lets callers take turns: a burst of one delays the call of another by one", async () => {
    const { call, order, drain } = await open();
    await call("held", { caller: "burst" });
    for (let n = 0; n < 5; n++) await call(`burst ${n}`, { caller: "burst" });
    await call("other", { caller: "other" });
    await drain();
    expect(order).toEqual(["held", "burst 0", "other", "burst 1", "burst 2", "burst 3", "burst 4"]);
  });

  it("refuses the caller with the most waiting calls when it is full, and never another one", async () => {
    const { kernel, call, order, drain } = await open();
    await call("held");
    const burst = [];
    for (let n = 0; n < 101; n++) burst.push(await call(`burst ${n}`, { caller: "burst" }));
    const full = { bound: "queuedCalls", limit: 100, position: 101 };
    expect(await burst[100]!.result).toMatchObject({ error: { code: "RATE_LIMITED", details: full } });
    const other = await call("other", { caller: "other" });
    expect(await burst[99]!.result).toMatchObject({ error: { code: "RATE_LIMITED", details: full } });
    await drain();
    expect(order.indexOf("other")).toBe(2);
    expect(await other.result).toMatchObject({ ok: true });
    expect(order).toHaveLength(101);
    await expectSoundLog(kernel);
  });

  it("does not hold a rate: a call above it is refused at once, however long it would wait", async () => {
    const { clock, call, next, drain } = await open({ concurrency: 1, callsPerHour: 2 });
    await call("1");
    const [second, third] = [await call("2"), await call("3")];
    await next();
    await next();
    expect(await second.result).toMatchObject({ ok: true });
    const rate = { code: "RATE_LIMITED", details: { bound: "callsPerHour", limit: 2, retryAfterMs: 3_600_000 } };
    expect(await third.result).toMatchObject({ error: rate });
    expect(await (await call("4", { waitMs: 900_000 })).result).toMatchObject({ error: rate });
    await clock.advance(3_600_000);
    const { result } = await call("5");
    await drain();
    expect(await result).toMatchObject({ ok: true });
  });

  it("counts in its hour while it waits, and gives the count back when it leaves", async () => {
    const { call, drain } = await open({ concurrency: 1, callsPerHour: 2 });
    const controller = new AbortController();
    await call("1");
    const { result } = await call("2", { signal: controller.signal });
    expect(await (await call("3")).result).toMatchObject({ error: { code: "RATE_LIMITED" } });
    controller.abort();
    expect(await result).toMatchObject({ error: { code: "CANCELLED" } });
    const last = await call("4");
    await drain();
    expect(await last.result).toMatchObject({ ok: true });
  });
});

describe("a call that waits for a slot", () => {
  it("leaves at once when its caller cancels", async () => {
    const { kernel, call, order, drain } = await open();
    const controller = new AbortController();
    await call("1");
    const { result } = await call("2", { signal: controller.signal });
    await call("3");
    controller.abort();
    expect(await result).toMatchObject({ error: { code: "CANCELLED" } });
    await drain();
    expect(order).toEqual(["1", "3"]);
    await expectSoundLog(kernel);
  });

  it("leaves at once when a grant that it needs is revoked, and never runs", async () => {
    const { kernel, call, order, drain, heard } = await open({ concurrency: 1 }, reads);
    await call("1", { caller: "grace" });
    const { result } = await call("2", { caller: "ada" });
    expect(await kernel.grants.revoke({ caller: "ada", kinds: ["kv.write"] }, "Not needed.")).toMatchObject({
      calls: 1,
    });
    await settle();
    expect(heard.at(-1)).toMatchObject({ type: "call.queued" });
    expect(await kernel.grants.revoke({ caller: "ada" }, "Enough.")).toMatchObject({ calls: 1 });
    expect(await result).toMatchObject({
      error: { code: "CAPABILITY_DENIED", details: { revoked: "kv.read" } },
      proof: { decision: "deny", reasonCode: "revoked" },
    });
    await drain();
    expect(order).toEqual(["1"]);
    await expectSoundLog(kernel);
  });

  it.each<[string, (bench: Awaited<ReturnType<typeof open>>) => Promise<unknown>]>([
    ["a policy", ({ kernel }) => kernel.setPolicy(openPolicy)],
    ["a mode", ({ kernel }) => kernel.setMode("LOCKDOWN", "test")],
  ])("never runs under %s that it was not decided by, whether it gets its slot or not", async (_, change) => {
    const bench = await open();
    const { kernel, clock, call, next, order, drain } = bench;
    await call("1");
    const [served, late] = [await call("2"), await call("3", { waitMs: 500 })];
    await change(bench);
    await clock.advance(500);
    const denied = { error: { code: "POLICY_DENIED", retryable: true } };
    expect(await late.result).toMatchObject(denied);
    await next();
    expect(await served.result).toMatchObject(denied);
    await drain();
    expect(order).toEqual(["1"]);
    await expectSoundLog(kernel);
  });
});
