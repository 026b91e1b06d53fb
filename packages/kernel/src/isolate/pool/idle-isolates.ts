import * as limits from "../../limits.ts";
import type { Clock } from "../clock.ts";

interface Idle {
  /** On the monotonic clock; meaningful while it is idle. */
  idleSinceMs: number;
}

/** Isolates that no call uses: the longest idle one is dropped where there are too many, and each after a while. */
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

  get longest(): Slot | undefined {
    return this.#slots[0];
  }

  add(slot: Slot): void {
    slot.idleSinceMs = this.#clock.monotonicMs();
    this.#slots.push(slot);
    if (this.longest && this.#slots.length > limits.idleIsolates) this.#drop(this.longest, "too many idle");
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
