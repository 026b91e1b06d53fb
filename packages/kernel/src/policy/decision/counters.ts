import * as limits from "../../limits.ts";
import type { StateChange } from "../../state/change.ts";
import { SlidingWindows } from "../../state/sliding-windows.ts";
import type { SteadyClock } from "../../state/steady-clock.ts";

/** The amount that one admitted call adds to a window. */
export interface Charge {
  readonly key: string;
  readonly windowMs: number;
  readonly amount: number;
}

/** The charge of a call. */
export interface Charged {
  /** Ends the charge, once: it stays in its window if the call started, and leaves it if not. */
  readonly end: (hasStarted: boolean) => void;
  /** For the event of the call's start; none after an earlier end of the charge. */
  readonly changes: () => readonly StateChange[];
}

/**
 * The sliding windows of all that counts calls: rules of a policy, and `callsPerHour`. The kernel charges a call at its decision, or when it asks for its slot. So running
 * calls count, and the kernel refunds a call that never starts. A change of the wall clock neither frees nor blocks a call.
 */
export class Counters {
  readonly #clock: SteadyClock;
  readonly table: SlidingWindows = new SlidingWindows("policy.counters", limits.counterWindows);

  constructor(clock: SteadyClock) {
    this.#clock = clock;
  }

  /**
   * The amounts within the window, running calls included. `undefined` without room for one more
   * window or amount.
   */
  used({ key, windowMs }: Omit<Charge, "amount">): number | undefined {
    const entries = this.table.entries(key, windowMs, this.#clock.now());
    if (!entries || entries.length >= limits.counterEntries) return undefined;
    return entries.reduce((sum, { amount }) => sum + amount, 0);
  }

  /** Charges one of at most so many calls, or says in how many milliseconds it can. */
  take(key: string, windowMs: number, most: number): Charged | number {
    const nowMs = this.#clock.now();
    const entries = this.table.entries(key, windowMs, nowMs);
    const first = entries?.at(-most);
    if (entries && !first) return this.charge([{ key, windowMs, amount: 1 }]);
    return Math.max(1, Math.ceil((first?.atMs ?? nowMs) + windowMs - nowMs));
  }

  /** How long until the first of what fills a window leaves it. A call that is still in flight may stay longer. */
  retryAfterMs({ key, windowMs }: Charge): number {
    const nowMs = this.#clock.now();
    const firstMs = this.table.entries(key, windowMs, nowMs)?.[0]?.atMs ?? nowMs;
    return Math.max(1, Math.ceil(firstMs + windowMs - nowMs));
  }

  /** Charges at once. */
  charge(charges: readonly Charge[]): Charged {
    const nowMs = this.#clock.now();
    const charged = charges.map(({ key, windowMs, amount }) => {
      return { key, windowMs, spent: this.table.spend(key, windowMs, amount, nowMs) };
    });
    return {
      end: (hasStarted) => {
        for (const { key, spent } of charged.splice(0)) {
          spent.isOpen = false;
          if (!hasStarted) this.table.takeBack(key, spent);
        }
      },
      changes: () => charged.map(({ key, windowMs, spent }) => this.table.changeOf(key, windowMs, spent)),
    };
  }

  /** Charges of calls that have not ended. */
  get open(): number {
    return this.table.open;
  }
}
