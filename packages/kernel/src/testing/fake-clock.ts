import type { Clock } from "../isolate/clock.ts";

interface Timer {
  readonly atMs: number;
  readonly order: number;
  readonly callback: () => void;
}

/**
 * Time that moves only when a test says so: deadlines, rate windows and approvals expire without a wait.
 *
 * @example
 * const clock = new FakeClock();
 * const kernel = await createKernel({ clock, policy });
 * await clock.advance(60_000);
 */
export class FakeClock implements Clock {
  #nowMs: number;
  #monotonicMs = 1_000;
  #order = 0;
  readonly #timers = new Set<Timer>();

  /** @param nowMs milliseconds since the epoch; default 2026-01-01 */
  constructor(nowMs: number = Date.UTC(2026, 0, 1)) {
    this.#nowMs = nowMs;
  }

  now(): number {
    return this.#nowMs;
  }

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  after(delayMs: number, callback: () => void): () => void {
    const timer: Timer = { atMs: this.#monotonicMs + delayMs, order: this.#order++, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Lets time pass: due timers run in order, and what they started runs up to its next wait. */
  async advance(durationMs: number): Promise<void> {
    const endMs = this.#monotonicMs + durationMs;
    await settle();
    for (;;) {
      const due = this.#nextUntil(endMs);
      if (!due) break;
      this.#timers.delete(due);
      this.#nowMs += due.atMs - this.#monotonicMs;
      this.#monotonicMs = due.atMs;
      due.callback();
      await settle();
    }
    this.#nowMs += endMs - this.#monotonicMs;
    this.#monotonicMs = endMs;
  }

  #nextUntil(endMs: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.atMs > endMs) continue;
      if (next === undefined || timer.atMs < next.atMs || (timer.atMs === next.atMs && timer.order < next.order))
        next = timer;
    }
    return next;
  }

  /** Sets the wall clock, as a person or NTP does; the monotonic clock does not notice. */
  jump(byMs: number): void {
    this.#nowMs += byMs;
  }

  get pendingTimers(): number {
    return this.#timers.size;
  }
}

/** Runs everything that waits for nothing but promises. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 50; i++) await Promise.resolve();
}
