import type { Kernel } from "@keyhole/kernel";
import type { BusEntry } from "@keyhole/worker-host/config";
import { causeOf, type ReadinessCause } from "../app/readiness.ts";

/** The bus of a configuration. Only `@keyhole/edge/bus` imports the library. */
export type BusPart = (kernel: Kernel, entry: BusEntry, env: object) => Promise<void>;

/** Between two attempts to join. */
const PAUSE_MS = 5_000;

/** A kernel that may not have joined its bus yet. It serves its other tools meanwhile; each request may try again. */
export class JoinedBus {
  readonly #join: () => Promise<void>;
  #cause: ReadinessCause | undefined;
  #trying: Promise<void> | undefined;
  #isJoined = false;
  #triedAtMs = -Infinity;

  constructor(join: () => Promise<void>) {
    this.#join = join;
  }

  /** Why tools of the bus are not there. */
  get causes(): readonly ReadinessCause[] {
    return this.#cause ? [this.#cause] : [];
  }

  /** Resolves when the first attempt has ended, also without success. No request waits for a later attempt. */
  async ready(): Promise<void> {
    const nowMs = Date.now();
    if (!this.#isJoined && !this.#trying && nowMs - this.#triedAtMs >= PAUSE_MS) {
      this.#triedAtMs = nowMs;
      this.#trying = this.#try();
    }
    if (!this.#cause) await this.#trying;
  }

  async #try(): Promise<void> {
    try {
      await this.#join();
      this.#isJoined = true;
      this.#cause = undefined;
    } catch (error) {
      this.#cause = causeOf(error, "The edge cannot join the bus.");
    } finally {
      this.#trying = undefined;
    }
  }
}
