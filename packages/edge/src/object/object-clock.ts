import { type Clock, systemClock } from "@keyhole/kernel";

interface IdleTimer {
  readonly dueMs: number;
  readonly callback: () => void;
  stop: (() => void) | undefined;
}

/**
 * The time of a Durable Object. A pending timer keeps an object in memory, which is billed, and Workers have no `unref` as Node has. So an `"idly"` timer is a timer of the platform
 * only while something else goes on: another timer of this clock, as each running call has one, or a {@link hold}. A timer that became due meanwhile fires then.
 */
export class ObjectClock implements Clock {
  readonly #idle = new Set<IdleTimer>();
  #busy = 0;

  now(): number {
    return systemClock.now();
  }

  monotonicMs(): number {
    return systemClock.monotonicMs();
  }

  after(delayMs: number, callback: () => void, how?: "idly"): () => void {
    if (how === "idly") return this.#afterIdly(delayMs, callback);
    const release = this.hold();
    const stop = systemClock.after(delayMs, () => {
      release();
      callback();
    });
    return () => {
      release();
      stop();
    };
  }

  /** Keeps idle timers going until the returned function is called. Idempotent as a way back. */
  hold(): () => void {
    if (this.#busy++ === 0) for (const timer of this.#idle) this.#start(timer);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      if (--this.#busy === 0) for (const timer of this.#idle) timer.stop?.();
    };
  }

  #afterIdly(delayMs: number, callback: () => void): () => void {
    const timer: IdleTimer = { dueMs: this.monotonicMs() + delayMs, callback, stop: undefined };
    this.#idle.add(timer);
    if (this.#busy > 0) this.#start(timer);
    return () => {
      this.#idle.delete(timer);
      timer.stop?.();
    };
  }

  #start(timer: IdleTimer): void {
    timer.stop = systemClock.after(Math.max(0, timer.dueMs - this.monotonicMs()), () => {
      this.#idle.delete(timer);
      timer.callback();
    });
  }
}
