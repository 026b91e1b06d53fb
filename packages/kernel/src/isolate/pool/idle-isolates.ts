import * as limits from "../../limits.ts";
import { present } from "../../support/guards.ts";
import { Shares } from "../../support/shares.ts";
import type { Clock } from "../clock.ts";

interface Idle<Slot> {
  readonly slot: Slot;
  readonly caller: string;
  readonly bytes: number;
  /** On the monotonic clock. */
  readonly untilMs: number;
}

/**
 * Isolates that no call uses. Each ends after a while. Where all hold too many bytes, the longest
 * idle one of the caller with the most bytes ends.
 */
export class IdleIsolates<Slot extends { readonly caller: string }> {
  readonly #clock: Clock;
  readonly #mostBytes: number;
  readonly #drop: (slot: Slot, reason: string) => void;
  /** The longest idle first. Few; and a set that changes with every call leaves its old tables behind for the full collection. */
  readonly #idle: Idle<Slot>[] = [];
  readonly #bytes = new Shares();
  /** One timer for all. Calls do not move it: when it fires, it looks who is due. */
  #stopTimer: (() => void) | undefined;

  /** @param drop ends an isolate; it has to {@link remove} its slot */
  constructor(clock: Clock, mostBytes: number = limits.idleBytes, drop: (slot: Slot, reason: string) => void) {
    this.#clock = clock;
    this.#mostBytes = mostBytes;
    this.#drop = drop;
  }

  /** @param bytes as its host states them */
  add(slot: Slot, bytes: number = limits.isolateBytes): void {
    const { caller } = slot;
    const all = this.#idle;
    all.push({ slot, caller, bytes, untilMs: this.#clock.monotonicMs() + limits.idleMs });
    this.#bytes.add(caller, bytes);
    while (this.#bytes.total > this.#mostBytes)
      this.#drop(present(all[this.#bytes.next(all.entries(), (each) => each.caller) ?? 0]).slot, "too much is idle");
    this.#stopTimer ??= this.#clock.after(limits.idleMs, () => this.#evict(), "idly");
  }

  remove(slot: Slot): void {
    const place = this.#idle.findIndex((each) => each.slot === slot);
    for (const { caller, bytes } of place < 0 ? [] : this.#idle.splice(place, 1)) this.#bytes.add(caller, -bytes);
  }

  close(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  #evict(): void {
    this.#stopTimer = undefined;
    const nowMs = this.#clock.monotonicMs();
    for (let [first] = this.#idle; first; [first] = this.#idle) {
      const restMs = first.untilMs - nowMs;
      if (restMs > 0) {
        this.#stopTimer = this.#clock.after(restMs, () => this.#evict(), "idly");
        return;
      }
      this.#drop(first.slot, "idle");
    }
  }
}
