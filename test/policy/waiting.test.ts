import { describe, expect, it } from "vitest";
import { settle } from "../support/fake-clock.ts";
import { expectSoundLog, openKernel, toolOf } from "../support/kernel.ts";

async function open(bounds: object) {
  const bench = await openKernel();
  const releases: (() => void)[] = [];
  const order: number[] = [];
  bench.kernel.registerTrusted(
    toolOf(
      ({ n }: { n: number }) => {
        order.push(n);
        return new Promise((resolve) => releases.push(() => resolve(n)));
      },
      { bounds: { concurrency: 1, timeoutMs: 900_000, ...bounds } },
    ),
  );
  const call = (n: number, options: object = {}) => bench.kernel.call("subject", { n }, options);
  return { ...bench, call, order, next: async () => (releases.shift()?.(), settle()) };
}

describe("a call that finds no free slot", () => {
  it("is refused at once, or waits, as its caller chooses, in the order of arrival", async () => {
    const { call, order, next, kernel, clock } = await open({});
    const running = call(1);
    await settle();
    expect(await call(2, { waitMs: 0 })).toMatchObject({
      error: { code: "RATE_LIMITED", details: { retryAfterMs: 900_000 } },
    });
    const waiting = [3, 4, 5].map((n) => call(n, { waitMs: 60_000 }));
    await settle();
    await clock.advance(1_000);
    for (let i = 0; i < 4; i++) await next();
    expect(order).toEqual([1, 3, 4, 5]);
    expect((await Promise.all([running, ...waiting])).every(({ ok }) => ok)).toBe(true);
    expect((await waiting[0])?.meta.queuedMs).toBe(1_000);
    await clock.advance(60_000);
    expect(clock.pendingTimers).toBe(0);
    await expectSoundLog(kernel);
  });

  it("waits no longer than it wants to, and not when it is cancelled", async () => {
    const { call, clock, kernel } = await open({});
    void call(1);
    await settle();
    const short = call(2, { waitMs: 500 });
    const controller = new AbortController();
    const cancelled = call(3, { waitMs: 60_000, signal: controller.signal });
    await settle();
    await clock.advance(500);
    expect(await short).toMatchObject({ error: { code: "RATE_LIMITED" }, meta: { queuedMs: 500 } });
    controller.abort();
    expect(await cancelled).toMatchObject({ error: { code: "CANCELLED" } });
    await kernel.close();
  });

  it("finds a queue that is bounded", async () => {
    const { call, next, order } = await open({});
    void call(0);
    await settle();
    const waiting = Array.from({ length: 101 }, (_, n) => call(n + 1, { waitMs: 60_000 }));
    expect(await waiting[100]).toMatchObject({ error: { code: "RATE_LIMITED" } });
    for (let i = 0; i < 101; i++) await next();
    expect(order).toHaveLength(101);
    expect((await Promise.all(waiting.slice(0, 100))).every(({ ok }) => ok)).toBe(true);
  });

  it("does not start under a policy or mode that it was not decided by", async () => {
    const { call, next, kernel, order } = await open({});
    void call(1);
    await settle();
    const waiting = call(2, { waitMs: 60_000 });
    await settle();
    await kernel.setMode("LOCKDOWN", "test");
    await next();
    expect(await waiting).toMatchObject({ error: { code: "POLICY_DENIED", retryable: true } });
    expect(order).toEqual([1]);
    await expectSoundLog(kernel);
  });
});
