import type { Clock } from "@keyhole/kernel";

interface Timer {
  readonly atMs: number;
  readonly order: number;
  readonly callback: () => void;
}

/** Time that moves only when a test says so. */
export class FakeClock implements Clock {
  #nowMs: number;
  #monotonicMs = 1_000;
  #order = 0;
  readonly #timers = new Set<Timer>();

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

/**
 * Lets time pass, a second at a time, until the answer is there: for answers that real messages bring. Time stands still until `begun` has settled. Without that a
 * slow machine would reach the deadline before the subject of the test.
 */
export async function passUntil<Answer>(
  clock: FakeClock,
  begun: Promise<unknown>,
  answer: Promise<Answer>,
): Promise<Answer> {
  await begun;
  let waits = true;
  const over = answer.finally(() => {
    waits = false;
  });
  while (waits) {
    await clock.advance(1_000);
    await new Promise((resolve) => {
      setTimeout(resolve, 0);
    });
  }
  return over;
}
