import type { Clock } from "@keyhole/kernel";
import { TokenBucket } from "@keyhole/kernel/foreign-tools";

const rate = { most: 10, everyMs: 1_000 };

/** Tells a program about faults and dropped messages: a peer that sends without end fills no log. */
export class Reports {
  readonly #bucket: TokenBucket;
  readonly #onError: (error: Error) => void;

  constructor(clock: Clock, onError: (error: Error) => void) {
    this.#bucket = new TokenBucket(clock, rate);
    this.#onError = onError;
  }

  readonly report = (error: Error): void => {
    if (!this.#bucket.take()) return;
    try {
      this.#onError(error);
    } catch {
      // The program's own fault ends no call, and no listener is left.
    }
  };
}
