import type { Clock } from "../isolate/clock.ts";

/**
 * The time of rows that outlive a kernel: since the epoch, as the wall clock said when the kernel
 * opened, and from then on as the monotonic clock goes. A change of the wall clock while the kernel
 * runs frees and blocks no call. If it was set back between two kernels, time continues from the
 * last written row.
 */
export class SteadyClock {
  readonly #clock: Clock;
  #offsetMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#offsetMs = clock.now() - clock.monotonicMs();
  }

  /** Milliseconds since the epoch. */
  now(): number {
    return Math.floor(this.#offsetMs + this.#clock.monotonicMs());
  }

  /** A row of this time is there, so it is later. */
  notBefore(epochMs: number): void {
    this.#offsetMs = Math.max(this.#offsetMs, epochMs - this.#clock.monotonicMs());
  }
}
