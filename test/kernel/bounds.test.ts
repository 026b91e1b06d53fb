import { type AuditSink, createKernel, type EventRecord, eventOf, memorySink, verifyChain } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { Limiter } from "../../packages/kernel/src/bounds/limiter.ts";
import { defaultBounds } from "../../packages/kernel/src/limits.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { echo, expectSoundLog, openKernel, openPolicy, toolOf } from "../support/kernel.ts";

const hourMs = 3_600_000;

describe("calls per hour", () => {
  const bounds = { ...defaultBounds, callsPerHour: 2 };

  it("are exact at the edge of the window", async () => {
    const clock = new FakeClock();
    const limiter = new Limiter(clock);
    const reserve = () => {
      const reservation = limiter.reserve("t", "ada", bounds);
      if (reservation.ok) reservation.release();
      return reservation;
    };
    expect(reserve().ok).toBe(true);
    await clock.advance(1_000);
    expect(reserve().ok).toBe(true);
    expect(reserve()).toMatchObject({ ok: false, bound: "callsPerHour", retryAfterMs: hourMs - 1_000 });
    await clock.advance(hourMs - 1_001);
    expect(reserve()).toMatchObject({ ok: false, retryAfterMs: 1 });
    await clock.advance(1);
    expect(reserve().ok).toBe(true);
    expect(reserve()).toMatchObject({ ok: false, retryAfterMs: 1_000 });
    expect(limiter.reserve("t", "eve", bounds).ok).toBe(true);
  });

  it.each([hourMs, -hourMs])("do not care about a clock that jumps by %d ms", async (byMs) => {
    const clock = new FakeClock();
    const limiter = new Limiter(clock);
    limiter.reserve("t", "ada", bounds);
    limiter.reserve("t", "ada", bounds);
    clock.jump(byMs);
    expect(limiter.reserve("t", "ada", bounds)).toMatchObject({ ok: false, retryAfterMs: hourMs });
    await clock.advance(hourMs);
    expect(limiter.reserve("t", "ada", bounds).ok).toBe(true);
  });

  it("count calls that were refused nothing but still run", async () => {
    const { kernel, clock } = await openKernel();
    kernel.register(toolOf(() => new Promise(() => {}), { bounds: { callsPerHour: 1, timeoutMs: 100 } }));
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

describe("concurrency", () => {
  it("at the limit and one past it, and the slot comes back on every way out", async () => {
    const { kernel, clock } = await openKernel();
    kernel.register(toolOf(() => new Promise(() => {}), { bounds: { concurrency: 2, timeoutMs: 100 } }));
    const running = [kernel.call("subject", {}), kernel.call("subject", {})];
    expect(await kernel.call("subject", {})).toMatchObject({
      error: { code: "RATE_LIMITED", details: { bound: "concurrency", limit: 2, retryAfterMs: 100 } },
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
      const reservation = limiter.reserve(`t${i % 7}`, `c${i % 11}`, defaultBounds);
      if (reservation.ok) releases.push(reservation.release, reservation.release);
      if (i % 3 === 0) releases.pop()?.();
    }
    for (const release of releases) release();
    expect(limiter.inFlight).toBe(0);
  });
});

describe("the log", () => {
  /** Fails from the nth batch on. */
  function failingSink(fromBatch: number): AuditSink & { readonly kept: EventRecord[] } {
    const kept: EventRecord[] = [];
    let batches = 0;
    return {
      kept,
      append: async (events) => {
        if (++batches >= fromBatch) throw new Error("disk full");
        kept.push(...events);
      },
      read: () => kept,
      open: () => ({ last: kept.at(-1), cutBytes: 0, damage: null }),
    };
  }

  it.each([1, 2, 3])("that fails at its batch %d stops everything, and nothing runs unrecorded", async (fromBatch) => {
    const sink = failingSink(fromBatch);
    const kernel = await createKernel({ policy: openPolicy, sink });
    let runs = 0;
    kernel.register(toolOf(() => ++runs));
    const results = [];
    for (let i = 0; i < 3; i++) results.push(await kernel.call("subject", {}));
    expect(results.at(-1)).toMatchObject({ ok: false, error: { code: "AUDIT_UNAVAILABLE" } });
    const kept = sink.kept.map(eventOf);
    expect(kept.filter(({ type }) => type === "tool.started")).toHaveLength(runs);
    expect(runs).toBe(Math.floor(fromBatch / 2));
    expect(verifyChain(kept).ok).toBe(true);
  });

  it("goes on where it ended, and closes calls that a crash left open", async () => {
    const sink = memorySink();
    const clock = new FakeClock();
    const first = await createKernel({ policy: openPolicy, sink, clock });
    first.register(toolOf(() => new Promise(() => {})));
    const lost = first.call("subject", {}, { sessionId: "s" });
    await clock.advance(1);
    void lost;
    const second = await createKernel({ policy: openPolicy, sink, clock });
    second.register(echo);
    expect(await second.call("echo", { message: "x" })).toMatchObject({ ok: true });
    const events = await second.audit.read();
    expect(events.filter(({ type }) => type === "tool.lost")).toMatchObject([
      { sessionId: "s", payload: { lastSeq: 4 } },
    ]);
    await expectSoundLog(second);
  });

  it("notices every change, gap and swap", async () => {
    const { kernel } = await openKernel();
    kernel.register(echo);
    await kernel.call("echo", { message: "x" });
    const events = await kernel.audit.read();
    expect(verifyChain(events)).toMatchObject({ ok: true, events: 6 });
    for (const [index, event] of events.entries()) {
      for (const key of Object.keys(event)) {
        const changed = events.with(index, { ...event, [key]: key === "seq" ? 99 : "changed" });
        expect(verifyChain(changed), `${index} ${key}`).toMatchObject({ ok: false });
      }
      if (index > 0 && index < events.length - 1) expect(verifyChain(events.toSpliced(index, 1)).ok).toBe(false);
    }
    expect(verifyChain([events[1]!, events[0]!]).ok).toBe(false);
    expect(verifyChain(events.slice(2)).ok).toBe(true);
  });

  it("in memory keeps the last events", () => {
    const sink = memorySink(3);
    const event = (seq: number) => ({ seq, body: "{}", hash: "" });
    for (let seq = 0; seq < 10; seq++) void sink.append([event(seq)]);
    expect(sink.read(0, 10)).toEqual([7, 8, 9].map(event));
    expect(sink.read(8, 1)).toEqual([event(8)]);
    expect(sink.open()).toMatchObject({ last: event(9) });
  });
});
