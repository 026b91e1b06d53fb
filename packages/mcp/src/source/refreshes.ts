import type { Clock } from "@keyhole/kernel";
import { TokenBucket } from "@keyhole/kernel/foreign-tools";

/** How often a server has one list read by saying that it changed. */
const rate = { most: 10, everyMs: 10_000 };

/** Reads a list again when its server says that it changed: once at a time, and at a rate. The last change is never missed. */
export class Refreshes {
  readonly #clock: Clock;
  readonly #refresh: () => Promise<void>;
  readonly #onRest: (waitMs: number) => void;
  readonly #bucket: TokenBucket;
  #isRefreshing = false;
  #isStale = false;
  #isClosed = false;
  #endWait: () => void = () => {};

  /** @param refresh never rejects */
  constructor(clock: Clock, refresh: () => Promise<void>, onRest: (waitMs: number) => void) {
    this.#clock = clock;
    this.#refresh = refresh;
    this.#onRest = onRest;
    this.#bucket = new TokenBucket(clock, rate);
  }

  async soon(): Promise<void> {
    this.#isStale = true;
    if (this.#isRefreshing) return;
    this.#isRefreshing = true;
    while (this.#isStale && !this.#isClosed) {
      if (!this.#bucket.take()) {
        const { waitMs } = this.#bucket;
        this.#onRest(waitMs);
        await this.#wait(waitMs);
        continue;
      }
      this.#isStale = false;
      await this.#refresh();
    }
    this.#isRefreshing = false;
  }

  close(): void {
    this.#isClosed = true;
    this.#endWait();
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const stop = this.#clock.after(ms, resolve, "idly");
      this.#endWait = () => {
        stop();
        resolve();
      };
    });
  }
}
