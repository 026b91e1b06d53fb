import type { Clock } from "../isolate/clock.ts";

export interface Rate {
  /** At once. */
  readonly most: number;
  /** Until one more. */
  readonly everyMs: number;
}

/** Limits the events of an untrusted program: a number at once, then one after each interval. */
export class TokenBucket {
  readonly #clock: Pick<Clock, "monotonicMs">;
  readonly #rate: Rate;
  #tokens: number;
  #countedMs: number;

  constructor(clock: Pick<Clock, "monotonicMs">, rate: Rate) {
    this.#clock = clock;
    this.#rate = rate;
    this.#tokens = rate.most;
    this.#countedMs = clock.monotonicMs();
  }

  take(): boolean {
    this.#refill();
    if (this.#tokens < 1) return false;
    this.#tokens--;
    return true;
  }

  /** Until the next one can be taken. */
  get waitMs(): number {
    this.#refill();
    const { everyMs } = this.#rate;
    return this.#tokens >= 1 ? 0 : Math.max(1, this.#countedMs + everyMs - this.#clock.monotonicMs());
  }

  #refill(): void {
    const { most, everyMs } = this.#rate;
    const earned = Math.floor((this.#clock.monotonicMs() - this.#countedMs) / everyMs);
    this.#countedMs += earned * everyMs;
    this.#tokens = Math.min(most, this.#tokens + earned);
  }
}
