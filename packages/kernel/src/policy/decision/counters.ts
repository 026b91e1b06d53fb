import type { Clock } from "../../isolate/clock.ts";
import { limits } from "../../limits.ts";

/** What one admitted call adds to a window. */
export interface Charge {
  readonly key: string;
  readonly windowMs: number;
  readonly amount: number;
}

interface Entry {
  readonly atMs: number;
  readonly amount: number;
  isOpen: boolean;
}

/**
 * Sliding windows of a policy's counting rules. A call is charged when it is decided, so that calls in flight count; the charge is taken back
 * when the call never starts. Measured on the monotonic clock: setting the wall clock neither frees nor blocks anybody.
 */
export class Counters {
  readonly #clock: Clock;
  readonly #windows = new Map<string, { readonly windowMs: number; entries: Entry[] }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** What was charged within the window and what is still in flight. `undefined` when there is no room to remember one more. */
  used(key: string): number | undefined {
    const window = this.#windows.get(key);
    if (!window) {
      if (this.#windows.size >= limits.counterWindows) this.#sweep();
      return this.#windows.size < limits.counterWindows ? 0 : undefined;
    }
    this.#expire(window);
    if (window.entries.length >= limits.counterEntries) return undefined;
    return window.entries.reduce((sum, { amount }) => sum + amount, 0);
  }

  /** How long until the first of what fills a window leaves it. A call that is still in flight may stay longer. */
  retryAfterMs({ key, windowMs }: Charge): number {
    const nowMs = this.#clock.monotonicMs();
    const firstMs = this.#windows.get(key)?.entries[0]?.atMs ?? nowMs;
    return Math.max(1, Math.ceil(firstMs + windowMs - nowMs));
  }

  /** Charges at once. The returned function ends the charge, once: it stays in its window if the call started, and is gone if not. */
  charge(charges: readonly Charge[]): (hasStarted: boolean) => void {
    const atMs = this.#clock.monotonicMs();
    const charged = charges.map(({ key, windowMs, amount }) => {
      const entry: Entry = { atMs, amount, isOpen: true };
      const window = this.#windows.get(key) ?? { windowMs, entries: [] };
      window.entries.push(entry);
      this.#windows.set(key, window);
      return { key, window, entry };
    });
    return (hasStarted) => {
      for (const { key, window, entry } of charged.splice(0)) {
        entry.isOpen = false;
        if (!hasStarted) window.entries = window.entries.filter((each) => each !== entry);
        if (window.entries.length === 0) this.#windows.delete(key);
      }
    };
  }

  /** Charges of calls that have not ended. */
  get open(): number {
    let count = 0;
    for (const { entries } of this.#windows.values()) count += entries.filter(({ isOpen }) => isOpen).length;
    return count;
  }

  #expire(window: { readonly windowMs: number; entries: Entry[] }): void {
    const sinceMs = this.#clock.monotonicMs() - window.windowMs;
    if (window.entries.some(({ atMs, isOpen }) => !isOpen && atMs <= sinceMs))
      window.entries = window.entries.filter(({ atMs, isOpen }) => isOpen || atMs > sinceMs);
  }

  #sweep(): void {
    for (const [key, window] of this.#windows) {
      this.#expire(window);
      if (window.entries.length === 0) this.#windows.delete(key);
    }
  }
}
