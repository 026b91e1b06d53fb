import * as limits from "../../limits.ts";
import type { Clock } from "../clock.ts";
import { Shares } from "../../support/shares.ts";

interface Idle {
  readonly caller: string;
  /** On the monotonic clock; meaningful while it is idle. */
  idleSinceMs: number;
}

/** Isolates that no call uses: the longest idle one of the caller with the most is dropped where there are too many, and each after a while. */
export class IdleIsolates<Slot extends Idle> {
  readonly #clock: Clock;
  readonly #drop: (slot: Slot, reason: string) => void;
  /** The longest idle first. Few; and a set that changes with every call leaves its old tables behind for the full collection. */
  readonly #slots: Slot[] = [];
  /** One timer for all. Calls do not move it: when it fires, it looks who is due. */
  #stopTimer: (() => void) | undefined;

  /** @param drop ends an isolate; it has to {@link remove} its slot */
  constructor(clock: Clock, drop: (slot: Slot, reason: string) => void) {
    this.#clock = clock;
    this.#drop = drop;
  }

  /** Drops the longest idle one of the caller with the most, until so many are left. */
  shrink(most: number, reason: string): void {
    while (this.#slots.length > Math.max(0, most)) {
      const shares = new Shares();
      for (const { caller } of this.#slots) shares.add(caller, 1);
      const next = this.#slots[shares.next(this.#slots.entries(), ({ caller }) => caller) ?? 0];
      if (next) this.#drop(next, reason);
    }
  }

  add(slot: Slot): void {
    slot.idleSinceMs = this.#clock.monotonicMs();
    this.#slots.push(slot);
    this.shrink(limits.idleIsolates, "too many idle");
    this.#stopTimer ??= this.#clock.after(limits.idleMs, () => this.#evict(), "idly");
  }

  remove(slot: Slot): void {
    const place = this.#slots.indexOf(slot);
    if (place >= 0) this.#slots.splice(place, 1);
  }

  close(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  #evict(): void {
    this.#stopTimer = undefined;
    const nowMs = this.#clock.monotonicMs();
    for (let slot = this.#slots[0]; slot; slot = this.#slots[0]) {
      const restMs = slot.idleSinceMs + limits.idleMs - nowMs;
      if (restMs > 0) {
        this.#stopTimer = this.#clock.after(restMs, () => this.#evict(), "idly");
        return;
      }
      this.#drop(slot, "idle");
    }
  }
}
