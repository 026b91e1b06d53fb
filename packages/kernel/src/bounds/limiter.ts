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
  /** Per tool: the running calls. Lists, kept when they are empty: maps and sets that change with every call leave their old tables behind for the full collection. */
  readonly #running = new Map<string, { readonly endsByMs: number }[]>();
  /** Per tool: what tries again to get a slot, in the order of arrival. */
  readonly #queues = new Map<string, Set<() => void>>();
  /** Per tool and caller: when each call of the last hour was admitted, oldest first. */
  readonly #windows = new Map<string, number[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  reserve(toolId: string, caller: string, bounds: Bounds): Reservation {
    const nowMs = this.#clock.monotonicMs();
    const running = this.#running.get(toolId) ?? [];
    if (running.length >= bounds.concurrency) {
      const firstEndMs = Math.min(...running.map(({ endsByMs }) => endsByMs));
      return { ok: false, bound: "concurrency", limit: bounds.concurrency, retryAfterMs: wait(firstEndMs - nowMs) };
    }
    const window = this.#window(`${toolId} ${caller}`, nowMs); // An id has no space.
    if (window === undefined)
      return { ok: false, bound: "callsPerHour", limit: bounds.callsPerHour, retryAfterMs: limits.rateWindowMs };
    if (window.length >= bounds.callsPerHour) {
      const free = window[window.length - bounds.callsPerHour]! + limits.rateWindowMs;
      return { ok: false, bound: "callsPerHour", limit: bounds.callsPerHour, retryAfterMs: wait(free - nowMs) };
    }
    window.push(nowMs);
    const slot = { endsByMs: nowMs + bounds.timeoutMs };
    if (running.push(slot) === 1) this.#running.set(toolId, running);
    return { ok: true, release: () => this.#release(toolId, slot) };
  }

  /**
   * As {@link reserve}, and waits for at most `waitMs` where nothing is free. First come, first served; the queue of a tool is bounded, and whoever
   * finds it full is refused at once. An abort ends the waiting with the refusal.
   */
  async reserveWithin(
    toolId: string,
    caller: string,
    bounds: Bounds,
    { waitMs, signal }: { readonly waitMs: number; readonly signal: AbortSignal | undefined },
  ): Promise<Reservation> {
    let latest = this.reserve(toolId, caller, bounds);
    const queue = this.#queues.get(toolId) ?? new Set();
    if (latest.ok || waitMs <= 0 || signal?.aborted || queue.size >= limits.queuedCalls) return latest;
    this.#queues.set(toolId, queue);
    return new Promise((resolve) => {
      let stopRetry = (): void => {};
      const attempt = (): void => {
        latest = this.reserve(toolId, caller, bounds);
        if (latest.ok) leave();
        else retryLater();
      };
      // A slot that comes back is announced; a window that moves on is not.
      const retryLater = (): void => {
        stopRetry();
        if (!latest.ok && latest.bound === "callsPerHour" && latest.retryAfterMs <= waitMs)
          stopRetry = this.#clock.after(latest.retryAfterMs, attempt);
      };
      const leave = (): void => {
        stopRetry();
        stopWaiting();
        signal?.removeEventListener("abort", leave);
        queue.delete(attempt);
        if (queue.size === 0) this.#queues.delete(toolId);
        resolve(latest);
      };
      const stopWaiting = this.#clock.after(waitMs, () => {
        // What becomes free in this very moment is still in time.
        latest = this.reserve(toolId, caller, bounds);
        leave();
      });
      signal?.addEventListener("abort", leave, { once: true });
      queue.add(attempt);
      retryLater();
    });
  }

  /** Calls that hold a slot now. */
  get inFlight(): number {
    let count = 0;
    for (const running of this.#running.values()) count += running.length;
    return count;
  }

  #release(toolId: string, slot: { readonly endsByMs: number }): void {
    const running = this.#running.get(toolId);
    const place = running?.indexOf(slot) ?? -1;
    if (place < 0) return;
    running!.splice(place, 1);
    const queue = this.#queues.get(toolId);
    if (queue) for (const attempt of Array.from(queue)) attempt();
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
    if (known.length > 0 && known[0]! <= nowMs - limits.rateWindowMs) {
      const firstInside = known.findIndex((atMs) => atMs > nowMs - limits.rateWindowMs);
      known.splice(0, firstInside === -1 ? known.length : firstInside);
    }
    return known;
  }

  #sweep(nowMs: number): void {
    for (const [key, window] of this.#windows) {
      if (window.length === 0 || window.at(-1)! <= nowMs - limits.rateWindowMs) this.#windows.delete(key);
    }
  }
}

const wait = (delayMs: number): number => Math.max(1, Math.ceil(delayMs));
