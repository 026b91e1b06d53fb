import { limits } from "../limits.ts";
import type { Clock } from "./clock.ts";

interface Failures {
  readonly inARow: number;
  /** On the monotonic clock. */
  readonly untilMs: number;
}

/**
 * Who failed again and again is not opened again at once: after the third failure in a row it waits for a second, and twice as long after each
 * further one. One success, and all is forgotten.
 */
export class Quarantine {
  readonly #clock: Clock;
  /** The longest ago first. */
  readonly #failures = new Map<string, Failures>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How long it has to wait still, and after how many failures; `undefined` when it may be opened. */
  rest(key: string): { readonly restMs: number; readonly failures: number } | undefined {
    const failed = this.#failures.get(key);
    const restMs = failed === undefined ? 0 : failed.untilMs - this.#clock.monotonicMs();
    return failed !== undefined && restMs > 0 ? { restMs, failures: failed.inARow } : undefined;
  }

  failed(key: string): void {
    const inARow = (this.#failures.get(key)?.inARow ?? 0) + 1;
    const doublings = inARow - limits.failuresInARow;
    const restMs = doublings < 0 ? 0 : Math.min(limits.quarantineMs * 2 ** doublings, limits.longestQuarantineMs);
    this.#failures.delete(key);
    this.#failures.set(key, { inARow, untilMs: this.#clock.monotonicMs() + restMs });
    const [oldest] = this.#failures.keys();
    if (this.#failures.size > limits.quarantines && oldest !== undefined) this.#failures.delete(oldest);
  }

  succeeded(key: string): void {
    if (this.#failures.size > 0) this.#failures.delete(key);
  }
}
