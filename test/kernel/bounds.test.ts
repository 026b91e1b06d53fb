import { describe, expect, it } from "vitest";
import type { Bounds } from "../../packages/kernel/src/bounds/bounds.ts";
import { Limiter, type Reservation } from "../../packages/kernel/src/bounds/limiter.ts";
import { Counters } from "../../packages/kernel/src/policy/decision/counters.ts";
import { SteadyClock } from "../../packages/kernel/src/state/steady-clock.ts";
import { defaultBounds } from "../../packages/kernel/src/limits.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { expectSoundLog, openKernel, openPolicy, toolOf } from "../support/kernel.ts";

const hourMs = 3_600_000;

/** At once, or not at all. */
function reserveIn(limiter: Limiter, toolId: string, caller: string, bounds: Bounds): Reservation {
  const reserved = limiter.reserve({ toolId, caller, outermostId: "", bounds });
  if (!("ok" in reserved)) throw new Error("It waits.");
  return reserved;
}

describe("calls per hour", () => {
  const hourOf = (clock: FakeClock) => {
    const counters = new Counters(new SteadyClock(clock));
    return (caller: string) => {
      const taken = counters.take(JSON.stringify([caller, "t"]), hourMs, 2);
      if (typeof taken === "number") return taken;
      taken.end(true);
      return "taken";
    };
  };

  it("are exact at the edge of the window", async () => {
    const clock = new FakeClock();
    const take = hourOf(clock);
    expect(take("ada")).toBe("taken");
    await clock.advance(1_000);
    expect(take("ada")).toBe("taken");
    expect(take("ada")).toBe(hourMs - 1_000);
    await clock.advance(hourMs - 1_001);
    expect(take("ada")).toBe(1);
    await clock.advance(1);
    expect(take("ada")).toBe("taken");
    expect(take("ada")).toBe(1_000);
    expect(take("eve")).toBe("taken");
  });

  it.each([hourMs, -hourMs])("do not care about a clock that jumps by %d ms", async (byMs) => {
    const clock = new FakeClock();
    const take = hourOf(clock);
    take("ada");
    take("ada");
    clock.jump(byMs);
    expect(take("ada")).toBe(hourMs);
    await clock.advance(hourMs);
    expect(take("ada")).toBe("taken");
  });

  it("count calls that were refused nothing but still run", async () => {
    const { kernel, clock } = await openKernel();
    kernel.registerTrusted(toolOf(() => new Promise(() => {}), { bounds: { callsPerHour: 1, timeoutMs: 100 } }));
    const first = kernel.call("subject", {});
    expect(await kernel.call("subject", {})).toMatchObject({
      ok: false,
      error: { code: "RATE_LIMITED", retryable: true, details: { bound: "callsPerHour", limit: 1 } },
    });
    await clock.advance(100);
    expect(await first).toMatchObject({ error: { code: "TIMEOUT" } });
    await expectSoundLog(kernel);
  });
});

describe("a tool without a rate", () => {
  it("is called as often as its caller likes, unless the policy or the call names a rate", async () => {
    const bounds = { callsPerHour: 1 };
    const policy = { ...openPolicy, tools: { governed: { bounds } } };
    const { kernel } = await openKernel({ policy });
    kernel.registerTrusted(toolOf(() => 1));
    kernel.registerTrusted(toolOf(() => 1, { name: "governed" }));
    for (let i = 0; i < 1_001; i++) expect((await kernel.call("subject", {})).ok).toBe(true);
    const refused = { error: { code: "RATE_LIMITED", details: { bound: "callsPerHour", limit: 1 } } };
    expect((await kernel.call("governed", {})).ok).toBe(true);
    expect(await kernel.call("governed", {})).toMatchObject(refused);
    expect((await kernel.call("subject", {}, { bounds })).ok).toBe(true);
    expect(await kernel.call("subject", {}, { bounds })).toMatchObject(refused);
  });
});

describe("concurrency", () => {
  it("at the limit and one past it, and the slot comes back on every way out", async () => {
    const { kernel, clock } = await openKernel();
    kernel.registerTrusted(toolOf(() => new Promise(() => {}), { bounds: { concurrency: 4, timeoutMs: 100 } }));
    const running = [kernel.call("subject", {}), kernel.call("subject", {})];
    expect(await kernel.call("subject", {}, { waitMs: 0 })).toMatchObject({
      error: { code: "RATE_LIMITED", details: { bound: "concurrency", limit: 4, position: 1, retryAfterMs: 100 } },
    });
    await clock.advance(100);
    expect((await Promise.all(running)).map((result) => result.ok || result.error.code)).toEqual([
      "TIMEOUT",
      "TIMEOUT",
    ]);
    const again = kernel.call("subject", {});
    await clock.advance(100);
    expect(await again).toMatchObject({ error: { code: "TIMEOUT" } });
  });

  it("ten thousand calls with mixed ends leave every counter at zero", async () => {
    const clock = new FakeClock();
    const limiter = new Limiter(clock);
    const releases: (() => void)[] = [];
    for (let i = 0; i < 10_000; i++) {
      const reservation = reserveIn(limiter, `t${i % 7}`, `c${i % 11}`, defaultBounds);
      if (reservation.ok) releases.push(reservation.release, reservation.release);
      if (i % 3 === 0) releases.pop()?.();
    }
    for (const release of releases) release();
    expect(limiter.inFlight).toBe(0);
  });
});
