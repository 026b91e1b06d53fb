import { limits } from "../limits.ts";
import type { Clock } from "../isolate/clock.ts";
import type { Bounds } from "./bounds.ts";

export type Reservation =
  | { readonly ok: true; /** Idempotent. */ readonly release: () => void }
  | {
      readonly ok: false;
      readonly bound: "concurrency" | "callsPerHour";
      readonly limit: number;
      readonly retryAfterMs: number;
    };

/**
 * Slots and sliding windows. Measured on the monotonic clock, so that setting the wall clock neither frees nor blocks anybody. A call counts in its
 * window from the moment it is admitted.
 */
export class Limiter {
  readonly #clock: Clock;
  /** Per tool: when each running call must have ended. */
  readonly #running = new Map<string, Set<{ readonly endsByMs: number }>>();
  /** Per tool and caller: when each call of the last hour was admitted, oldest first. */
  readonly #windows = new Map<string, number[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  reserve(toolId: string, caller: string, bounds: Bounds): Reservation {
    const nowMs = this.#clock.monotonicMs();
    const running = this.#running.get(toolId) ?? new Set();
    if (running.size >= bounds.concurrency) {
      const firstEndMs = Math.min(...[...running].map(({ endsByMs }) => endsByMs));
      return { ok: false, bound: "concurrency", limit: bounds.concurrency, retryAfterMs: wait(firstEndMs - nowMs) };
    }
    const window = this.#window(JSON.stringify([toolId, caller]), nowMs);
    if (window === undefined)
      return { ok: false, bound: "callsPerHour", limit: bounds.callsPerHour, retryAfterMs: limits.rateWindowMs };
    if (window.length >= bounds.callsPerHour) {
      const free = window[window.length - bounds.callsPerHour]! + limits.rateWindowMs;
      return { ok: false, bound: "callsPerHour", limit: bounds.callsPerHour, retryAfterMs: wait(free - nowMs) };
    }
    window.push(nowMs);
    const slot = { endsByMs: nowMs + bounds.timeoutMs };
    running.add(slot);
    this.#running.set(toolId, running);
    return { ok: true, release: () => this.#release(toolId, slot) };
  }

  /** Calls that hold a slot now. */
  get inFlight(): number {
    let count = 0;
    for (const running of this.#running.values()) count += running.size;
    return count;
  }

  #release(toolId: string, slot: { readonly endsByMs: number }): void {
    const running = this.#running.get(toolId);
    running?.delete(slot);
    if (running?.size === 0) this.#running.delete(toolId);
  }

  /** `undefined` when there is no room for one more window: callers are foreign names, and memory is bounded. */
  #window(key: string, nowMs: number): number[] | undefined {
    const known = this.#windows.get(key);
    if (!known) {
      if (this.#windows.size >= limits.rateWindows) this.#sweep(nowMs);
      if (this.#windows.size >= limits.rateWindows) return undefined;
      const fresh: number[] = [];
      this.#windows.set(key, fresh);
      return fresh;
    }
    const firstInside = known.findIndex((atMs) => atMs > nowMs - limits.rateWindowMs);
    known.splice(0, firstInside === -1 ? known.length : firstInside);
    return known;
  }

  #sweep(nowMs: number): void {
    for (const [key, window] of this.#windows) {
      if (window.length === 0 || window.at(-1)! <= nowMs - limits.rateWindowMs) this.#windows.delete(key);
    }
  }
}

const wait = (delayMs: number): number => Math.max(1, Math.ceil(delayMs));
