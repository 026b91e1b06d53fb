import { limits } from "../limits.ts";
import type { RegisteredTool } from "../tool/package.ts";
import type { Clock } from "./clock.ts";
import { type Isolate, IsolateFailure, type IsolateHost } from "./port.ts";

interface Slot {
  readonly key: string;
  readonly isolate: Promise<Isolate>;
  /** Once `isolate` has resolved. */
  opened: Isolate | undefined;
  calls: number;
  /** On the monotonic clock; meaningful while `calls` is 0. */
  idleSinceMs: number;
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
  readonly #slots = new Map<string, Slot>();
  /** Those that no call uses, the longest idle first. Few; and a set that changes with every call leaves its old tables behind for the full collection. */
  readonly #idle: Slot[] = [];
  /** One timer for all idle isolates. Calls do not move it: when it fires, it looks who is due. */
  #stopTimer: (() => void) | undefined;
  #closed = false;

  constructor(host: IsolateHost, clock: Clock) {
    this.#host = host;
    this.#clock = clock;
  }

  /** At once, where an isolate is open and alive. Rejects with what the host's `open` rejects with. */
  lease(tool: RegisteredTool, owner: string): Lease | Promise<Lease> {
    if (this.#closed) return Promise.reject(new IsolateFailure("ISOLATE_LOST", "The kernel was closed."));
    const key = `${tool.hash} ${owner}`; // A digest has no space.
    const slot = this.#take(key, tool);
    return slot.opened?.alive ? this.#leaseOf(slot, slot.opened) : this.#opened(slot, tool);
  }

  async #opened(first: Slot, tool: RegisteredTool): Promise<Lease> {
    let slot = first;
    try {
      let isolate = await slot.isolate;
      if (!isolate.alive) {
        // It died while nobody used it: this call gets a new one, and so does everybody after.
        slot.calls--;
        this.#drop(slot, "dead");
        slot = this.#take(slot.key, tool);
        isolate = await slot.isolate;
      }
      slot.opened = isolate;
      return this.#leaseOf(slot, isolate);
    } catch (error) {
      slot.calls--;
      this.#drop(slot, "could not be opened");
      throw error;
    }
  }

  #leaseOf(slot: Slot, isolate: Isolate): Lease {
    let released = false;
    return {
      isolate,
      release: () => {
        if (released) return;
        released = true;
        this.#release(slot, isolate);
      },
    };
  }

  close(): void {
    this.#closed = true;
    for (const slot of this.#slots.values()) this.#drop(slot, "the kernel was closed");
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  #take(key: string, tool: RegisteredTool): Slot {
    let slot = this.#slots.get(key);
    if (slot === undefined) {
      slot = { key, isolate: this.#host.open(tool), opened: undefined, calls: 0, idleSinceMs: 0 };
      this.#slots.set(key, slot);
    } else if (slot.calls === 0) this.#use(slot);
    slot.calls++;
    return slot;
  }

  #use(slot: Slot): void {
    const place = this.#idle.indexOf(slot);
    if (place >= 0) this.#idle.splice(place, 1);
  }

  #release(slot: Slot, isolate: Isolate): void {
    slot.calls--;
    if (!isolate.alive || this.#closed) return this.#drop(slot, "dead");
    if (slot.calls > 0 || this.#slots.get(slot.key) !== slot) return;
    slot.idleSinceMs = this.#clock.monotonicMs();
    this.#idle.push(slot);
    if (this.#idle.length > limits.idleIsolates) this.#drop(this.#idle[0]!, "too many idle");
    this.#stopTimer ??= this.#clock.after(limits.idleMs, () => this.#evict());
  }

  #evict(): void {
    this.#stopTimer = undefined;
    const nowMs = this.#clock.monotonicMs();
    for (let slot = this.#idle[0]; slot; slot = this.#idle[0]) {
      const restMs = slot.idleSinceMs + limits.idleMs - nowMs;
      if (restMs > 0) {
        this.#stopTimer = this.#clock.after(restMs, () => this.#evict());
        return;
      }
      this.#drop(slot, "idle");
    }
  }

  #drop(slot: Slot, reason: string): void {
    this.#use(slot);
    if (this.#slots.get(slot.key) === slot) this.#slots.delete(slot.key);
    slot.isolate.then(
      (isolate) => isolate.terminate(reason),
      () => {}, // It never opened: nothing to close. Whoever waited for it was told.
    );
  }
}
