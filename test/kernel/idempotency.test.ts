import { createKernel, limits, memorySink } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { FakeClock, settle } from "../support/fake-clock.ts";
import { expectSoundLog, granting, openKernel, openPolicy, toolOf } from "../support/kernel.ts";
import { fakeNet } from "../support/nested.ts";

const reads = { kind: "net.read", hosts: ["a.example"] } as const;

const charge = (act: (input: { amount: number }) => unknown, more: Record<string, unknown> = {}) =>
  toolOf(act, { name: "charge", determinism: "external", ...more });

describe("an idempotency key", () => {
  it("gives the first call's result again, and its deed is done once", async () => {
    let deeds = 0;
    const { kernel, events } = await openKernel();
    kernel.registerTrusted(charge(({ amount }) => ({ amount, deed: ++deeds })));
    const first = await kernel.call("charge", { amount: 5 }, { idempotencyKey: "k" });
    const again = await kernel.call("charge", { amount: 5 }, { idempotencyKey: "k" });
    expect(first).toMatchObject({ ok: true, data: { deed: 1 }, meta: { cached: false, attempts: 1 } });
    expect(again).toMatchObject({ ok: true, data: { deed: 1 }, meta: { cached: true, attempts: 0 } });
    expect(again.callId).not.toBe(first.callId);
    expect(again.ok && first.ok && again.hash === first.hash).toBe(true);
    const ofAgain = (await events()).filter(({ callId }) => callId === again.callId);
    expect(ofAgain.map(({ type }) => type)).toEqual([
      "call.invoked",
      "capability.checked",
      "policy.decided",
      "result.reused",
      "tool.completed",
    ]);
    expect(ofAgain[3]?.payload).toEqual({ from: first.callId, by: "idempotency-key" });
    await expectSoundLog(kernel);
  });

  it("has the effects of the first call in its end, also where that failed", async () => {
    const { kernel, events } = await openKernel({ policy: granting(reads), brokers: [fakeNet()] });
    const failing = async (_: never, { fetch }: { fetch(url: string): Promise<unknown> }) => {
      await fetch("https://a.example/");
      throw new Error("after the request");
    };
    kernel.registerTrusted(toolOf(failing, { determinism: "external", effects: [reads.kind], capabilities: [reads] }));
    const call = () => kernel.call("subject", {}, { idempotencyKey: "k" });
    const network = { networkRequests: 1, networkBytes: 10 };
    expect(await call()).toMatchObject({ ok: false, effects: [reads.kind], meta: network });
    expect(await call()).toMatchObject({ ok: false, effects: [reads.kind], meta: { cached: true, networkBytes: 0 } });
    const ends = (await events()).filter(({ type }) => type === "tool.failed" || type === "tool.blocked");
    expect(ends.map(({ payload }) => payload)).toEqual([
      expect.objectContaining({ effects: [reads.kind], ...network }),
      { code: "TOOL_ERROR", errorHash: expect.any(String), effects: [reads.kind] },
    ]);
  });

  it("waits for the first call while that is under way", async () => {
    let deeds = 0;
    let finish: (value: number) => void = () => {};
    const { kernel } = await openKernel();
    kernel.registerTrusted(charge(() => (deeds++, new Promise((resolve) => (finish = resolve)))));
    const calls = [1, 2, 3].map(() => kernel.call("charge", { amount: 1 }, { idempotencyKey: "k" }));
    await settle();
    finish(7);
    const results = await Promise.all(calls);
    expect(results.map((result) => result.ok && result.data)).toEqual([7, 7, 7]);
    expect(deeds).toBe(1);
    await expectSoundLog(kernel);
  });

  it.each([
    ["other arguments", "charge", { amount: 2 }],
    ["another tool", "refund", { amount: 1 }],
  ])("is refused with %s", async (_, tool, input) => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(charge(() => 1));
    kernel.registerTrusted(charge(() => 1, { name: "refund" }));
    await kernel.call("charge", { amount: 1 }, { idempotencyKey: "k" });
    expect(await kernel.call(tool, input, { idempotencyKey: "k" })).toMatchObject({
      ok: false,
      error: {
        code: "INVALID_INPUT",
        retryable: false,
        details: [{ keyword: "idempotencyKey", reason: "other-arguments" }],
      },
    });
  });

  it("belongs to its caller", async () => {
    let deeds = 0;
    const { kernel } = await openKernel();
    kernel.registerTrusted(charge(() => ++deeds));
    for (const caller of ["ada", "eve"]) await kernel.call("charge", {}, { caller, idempotencyKey: "k" });
    expect(deeds).toBe(2);
  });

  it("is used up by a call that failed after its start: what it did is not known, and is not done again", async () => {
    let deeds = 0;
    const { kernel } = await openKernel();
    kernel.registerTrusted(charge(() => (deeds++, new Promise(() => {})), { bounds: { timeoutMs: 50 } }));
    const { clock } = { clock: new FakeClock() };
    const other = await createKernel({ policy: openPolicy, clock });
    other.registerTrusted(charge(() => (deeds++, new Promise(() => {})), { bounds: { timeoutMs: 50 } }));
    const first = other.call("charge", {}, { idempotencyKey: "k" });
    await clock.advance(60);
    expect(await first).toMatchObject({ ok: false, error: { code: "TIMEOUT" } });
    const again = await other.call("charge", {}, { idempotencyKey: "k" });
    expect(again).toMatchObject({ ok: false, error: { code: "TIMEOUT", retryable: false }, meta: { cached: true } });
    expect(deeds).toBe(1);
    await expectSoundLog(other);
  });

  it("stays free where nothing ran", async () => {
    const { kernel } = await openKernel({ policy: { version: "1", posture: "strict" } });
    kernel.registerTrusted(charge(() => 1, { tier: 1 }));
    const denied = await kernel.call("charge", {}, { idempotencyKey: "k" });
    expect(denied).toMatchObject({ ok: false, error: { code: "APPROVAL_DENIED" } });
    await kernel.setPolicy(openPolicy);
    expect(await kernel.call("charge", {}, { idempotencyKey: "k" })).toMatchObject({ ok: true, data: 1 });
  });

  it("can be used again for a tool that may run twice, when its failure may pass", async () => {
    let runs = 0;
    const clock = new FakeClock();
    const kernel = await createKernel({ policy: openPolicy, clock });
    const slowOnce = () => (++runs === 1 ? new Promise(() => {}) : runs);
    kernel.registerTrusted(charge(slowOnce, { idempotent: true, bounds: { timeoutMs: 50 } }));
    const first = kernel.call("charge", {}, { idempotencyKey: "k" });
    await clock.advance(60);
    expect(await first).toMatchObject({ ok: false, error: { code: "TIMEOUT", retryable: true } });
    expect(await kernel.call("charge", {}, { idempotencyKey: "k" })).toMatchObject({ ok: true, data: 2 });
  });

  it("asks one person once, also for those who wait", async () => {
    let questions = 0;
    const { kernel } = await openKernel({
      policy: { version: "1", posture: "strict" },
      approver: async () => {
        questions++;
        await settle();
        return { answer: "allow", approver: "ada", scope: "once" };
      },
    });
    kernel.registerTrusted(charge(() => 1, { tier: 1 }));
    const calls = [1, 2, 3].map(() => kernel.call("charge", {}, { idempotencyKey: "k" }));
    expect((await Promise.all(calls)).every(({ ok }) => ok)).toBe(true);
    expect(await kernel.call("charge", {}, { idempotencyKey: "k" })).toMatchObject({
      ok: true,
      meta: { cached: true },
    });
    expect(questions).toBe(1);
    await expectSoundLog(kernel);
  });

  it("passes to the next who waits when its caller goes away before anything happened", async () => {
    const { kernel, clock } = await openKernel();
    kernel.registerTrusted(charge(() => 1, { bounds: { concurrency: 1 } }));
    kernel.registerTrusted(toolOf(() => new Promise(() => {}), { name: "other" }));
    const { signal, abort } = controller();
    kernel.registerTrusted(
      charge(() => new Promise((resolve) => clock.after(100, () => resolve(1))), { version: "2.0.0" }),
    );
    const busy = kernel.call("charge", {}, { version: "1.0.0" });
    await busy;
    const first = kernel.call("charge", { amount: 1 }, { idempotencyKey: "k", signal });
    abort();
    const second = kernel.call("charge", { amount: 1 }, { idempotencyKey: "k", version: "1.0.0" });
    await clock.advance(500);
    expect(await first).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
    expect(await second).toMatchObject({ ok: true, data: 1 });
  });

  it("ends the waiting of one who cancels, and of nobody else", async () => {
    let finish: (value: number) => void = () => {};
    const { kernel } = await openKernel();
    kernel.registerTrusted(charge(() => new Promise((resolve) => (finish = resolve))));
    const first = kernel.call("charge", {}, { idempotencyKey: "k" });
    const { signal, abort } = controller();
    const second = kernel.call("charge", {}, { idempotencyKey: "k", signal });
    await settle();
    abort();
    expect(await second).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
    finish(1);
    expect(await first).toMatchObject({ ok: true });
    await expectSoundLog(kernel);
  });

  it("expires after a day, by a clock that nobody sets", async () => {
    let deeds = 0;
    const { kernel, clock } = await openKernel();
    kernel.registerTrusted(charge(() => ++deeds));
    const call = () => kernel.call("charge", {}, { idempotencyKey: "k" });
    await call();
    clock.jump(limits.keyMs * 2);
    await call();
    await clock.advance(limits.keyMs - 1);
    await call();
    expect(deeds).toBe(1);
    await clock.advance(1);
    await call();
    expect(deeds).toBe(2);
  });

  it("is never forgotten for want of room: one more is refused instead", async () => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(charge(() => 1, { bounds: { callsPerHour: 100_000 } }));
    const call = (key: number, caller = "ada") => kernel.call("charge", {}, { caller, idempotencyKey: `${key}` });
    for (let key = 0; key < limits.keysPerCaller; key++) await call(key);
    expect(await call(limits.keysPerCaller)).toMatchObject({
      ok: false,
      error: { code: "RATE_LIMITED", retryable: true, details: { bound: "idempotencyKeys" } },
    });
    expect(await call(0)).toMatchObject({ ok: true, meta: { cached: true } });
    expect(await call(limits.keysPerCaller, "eve")).toMatchObject({ ok: true });
  });

  it.each([
    ["empty", ""],
    ["too long", "k".repeat(limits.nameLength + 1)],
    ["a number", 1],
  ])("that is %s is refused", async (_, idempotencyKey) => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(charge(() => 1));
    const result = await kernel.call("charge", {}, { idempotencyKey } as never);
    expect(result).toMatchObject({ ok: false, error: { code: "INVALID_INPUT" } });
  });

  it("survives a crash as used: what was done under it is unknown, and is not done again", async () => {
    let deeds = 0;
    const sink = memorySink();
    const clock = new FakeClock();
    const before = await createKernel({ policy: openPolicy, sink, clock });
    before.registerTrusted(charge(() => (deeds++, new Promise(() => {}))));
    before.registerTrusted(charge(() => ++deeds, { name: "refund" }));
    void before.call("charge", {}, { idempotencyKey: "open" });
    await before.call("refund", {}, { idempotencyKey: "done" });
    await before.call("refund", 1 as never, { idempotencyKey: "never ran" });

    const after = await createKernel({ policy: openPolicy, sink, clock });
    after.registerTrusted(charge(() => ++deeds));
    after.registerTrusted(charge(() => ++deeds, { name: "refund" }));
    const unknown = { ok: false, error: { code: "INVALID_INPUT", details: [{ reason: "outcome-unknown" }] } };
    expect(await after.call("charge", {}, { idempotencyKey: "open" })).toMatchObject(unknown);
    expect(await after.call("refund", {}, { idempotencyKey: "done" })).toMatchObject(unknown);
    expect(deeds).toBe(2);
    expect(await after.call("refund", {}, { idempotencyKey: "never ran" })).toMatchObject({ ok: true });
    await clock.advance(limits.keyMs);
    expect(await after.call("refund", {}, { idempotencyKey: "done" })).toMatchObject({ ok: true, data: 4 });
  });
});

function controller(): { readonly signal: AbortSignal; readonly abort: () => void } {
  const each = new AbortController();
  return { signal: each.signal, abort: () => each.abort() };
}
