import { limits } from "../limits.ts";
import type { RegisteredTool } from "../tool/package.ts";
import type { Clock } from "./clock.ts";
import type { Isolate, IsolateHost } from "./port.ts";

interface Slot {
  readonly isolate: Promise<Isolate>;
  calls: number;
  stopEviction: () => void;
}

/** One isolate in use by one call. */
export interface Lease {
  readonly isolate: Isolate;
  /** Gives it back. Idempotent. */
  readonly release: () => void;
}

/**
 * Owns every open isolate: one per tool and owner, a session of one caller, so that what one left in memory never serves another. An isolate that is not alive is
 * never handed out again; idle ones are closed after a while, and when there are too many.
 */
export class IsolatePool {
  readonly #host: IsolateHost;
  readonly #clock: Clock;
  /** In the order of last use. */
  readonly #slots = new Map<string, Slot>();
  #closed = false;

  constructor(host: IsolateHost, clock: Clock) {
    this.#host = host;
    this.#clock = clock;
  }

  /** Rejects with what the host's `open` rejects with. */
  async lease(tool: RegisteredTool, owner: string): Promise<Lease> {
    const key = JSON.stringify([tool.hash, owner]);
    let slot = this.#slots.get(key) ?? this.#open(key, tool);
    slot.calls++;
    slot.stopEviction();
    try {
      let isolate = await slot.isolate;
      if (!isolate.alive) {
        // It died while nobody used it: this call gets a new one, and so does everybody after.
        slot.calls--;
        this.#drop(key, slot, "dead");
        slot = this.#slots.get(key) ?? this.#open(key, tool);
        slot.calls++;
        isolate = await slot.isolate;
      }
      const held = slot;
      let released = false;
      return {
        isolate,
        release: () => {
          if (released) return;
          released = true;
          this.#release(key, held, isolate);
        },
      };
    } catch (error) {
      slot.calls--;
      this.#drop(key, slot, "could not be opened");
      throw error;
    }
  }

  close(): void {
    this.#closed = true;
    for (const [key, slot] of this.#slots) this.#drop(key, slot, "the kernel was closed");
  }

  #open(key: string, tool: RegisteredTool): Slot {
    const slot: Slot = { isolate: this.#host.open(tool), calls: 0, stopEviction: () => {} };
    this.#slots.set(key, slot);
    return slot;
  }

  #release(key: string, slot: Slot, isolate: Isolate): void {
    slot.calls--;
    if (!isolate.alive || this.#closed) return this.#drop(key, slot, "dead");
    if (slot.calls > 0 || this.#slots.get(key) !== slot) return;
    this.#slots.delete(key);
    this.#slots.set(key, slot);
    slot.stopEviction = this.#clock.after(limits.idleMs, () => this.#drop(key, slot, "idle"));
    const idle = [...this.#slots].filter(([, { calls }]) => calls === 0);
    for (const [otherKey, other] of idle.slice(0, Math.max(0, idle.length - limits.idleIsolates)))
      this.#drop(otherKey, other, "too many idle");
  }

  #drop(key: string, slot: Slot, reason: string): void {
    slot.stopEviction();
    if (this.#slots.get(key) === slot) this.#slots.delete(key);
    slot.isolate.then(
      (isolate) => isolate.terminate(reason),
      () => {}, // It never opened: nothing to close. Whoever waited for it was told.
    );
  }
}
