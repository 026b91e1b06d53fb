import { damageBefore, type EarlierParts } from "./damage-before.ts";
import type { StateCheckpoint } from "./state-checkpoint.ts";

/** `unverified`: no reader read them, or the reading ended early. `damaged`: an event differs, or is missing. */
export type EarlierEvents = "verified" | "verifying" | "unverified" | "damaged";

/** Knows how far the events were checked that lie before the place where this kernel began to read. */
export class EarlierCheck {
  readonly #parts: EarlierParts;
  readonly #opened: StateCheckpoint | undefined;
  #state: EarlierEvents;

  /** @param opened where the kernel began to read; `undefined` where it read the whole log */
  constructor(parts: EarlierParts, opened: StateCheckpoint | undefined, damage: string | null) {
    this.#parts = parts;
    this.#opened = opened;
    this.#state = damage !== null ? "damaged" : opened ? "unverified" : "verified";
  }

  get state(): EarlierEvents {
    return this.#state;
  }

  /** The fault of the earlier events; `null` without a fault, or when the check was stopped. */
  async verify(isStopped: () => boolean): Promise<string | null> {
    const opened = this.#opened;
    if (!opened) return null;
    this.#state = "verifying";
    const damage = await damageBefore(this.#parts, opened, isStopped).catch(() =>
      isStopped() ? null : "The kernel cannot read the beginning of the log.",
    );
    this.#state = damage !== null ? "damaged" : isStopped() ? "unverified" : "verified";
    return damage;
  }
}
