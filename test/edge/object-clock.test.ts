import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ObjectClock } from "../../packages/edge/src/object/object-clock.ts";

/* Timers of the platform are counted: each one keeps an object in memory. */

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

it("an idle timer takes none of the platform while nothing else goes on", () => {
  const clock = new ObjectClock();
  const fired = vi.fn<() => void>();
  clock.after(1_000, fired, "idly");
  expect(vi.getTimerCount()).toBe(0);
  const stop = clock.after(5_000, () => {});
  expect(vi.getTimerCount()).toBe(2);
  stop();
  stop();
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(60_000);
  expect(fired).not.toHaveBeenCalled();
});

it("an idle timer fires in its time while something else goes on, and once", () => {
  const clock = new ObjectClock();
  const fired = vi.fn<() => void>();
  const release = clock.hold();
  clock.after(1_000, fired, "idly");
  vi.advanceTimersByTime(999);
  expect(fired).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(fired).toHaveBeenCalledTimes(1);
  release();
  clock.hold();
  vi.advanceTimersByTime(60_000);
  expect(fired).toHaveBeenCalledTimes(1);
});

it("an idle timer that was due meanwhile fires when something goes on again", () => {
  const clock = new ObjectClock();
  const fired = vi.fn<() => void>();
  clock.after(1_000, fired, "idly");
  vi.advanceTimersByTime(60_000);
  const release = clock.hold();
  vi.advanceTimersByTime(0);
  expect(fired).toHaveBeenCalledTimes(1);
  release();
  expect(vi.getTimerCount()).toBe(0);
});

it("a stopped idle timer never fires", () => {
  const clock = new ObjectClock();
  const fired = vi.fn<() => void>();
  clock.hold();
  clock.after(1_000, fired, "idly")();
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(60_000);
  expect(fired).not.toHaveBeenCalled();
});

it("a deadline that has passed holds nothing", () => {
  const clock = new ObjectClock();
  const fired = vi.fn<() => void>();
  clock.after(1_000, fired);
  clock.after(5_000, () => {}, "idly");
  vi.advanceTimersByTime(1_000);
  expect(fired).toHaveBeenCalledTimes(1);
  expect(vi.getTimerCount()).toBe(0);
});
