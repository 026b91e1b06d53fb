import type { Backoff, Failing, Failure, Rest } from "../backoff.ts";
import { FairSemaphore } from "../../bounds/fair-semaphore.ts";
import type { RegisteredTool } from "../../tool/package.ts";
import type { Clock } from "../clock.ts";
import { IdleIsolates } from "./idle-isolates.ts";
import type { Lease, Owner, Waiter } from "./lease.ts";
import type { IsolateHost } from "../port.ts";
import type { OwnIsolate } from "../bounded-call.ts";
import { IsolateFailure } from "../port.ts";
import { allOf, failingOf, isToolsFault, newSlot, nobodyWaits, quarantineText, type Reuse, type Slot } from "./slot.ts";
import { Deadlock, deadlockIn } from "../deadlock.ts";

/** The parts of a host that a pool uses. */
type PoolHost = Pick<IsolateHost, "name" | "capacity" | "idleBytes" | "open">;

export interface PoolOptions {
  /** One for all pools of a kernel. */
  readonly backoff: Backoff;
  /** By name of a tool. Default: `session`. */
  readonly reuseOf?: (tool: string) => Reuse;
  /** An isolate did not end with its calls, and no call is there whose end would write the event. */
  readonly onWentOn?: () => void;
}

/**
 * Owns every open isolate. By default one tool and session of one caller share one, so memory of one session never serves another. The pool never hands out a
 * dead isolate. It closes idle ones after a while, and when they hold too much.
 */
export class IsolatePool {
  readonly #host: PoolHost;
  readonly #options: PoolOptions;
  /** Of isolates in use. Callers take turns and have shares; the tools of each caller take turns. */
  readonly #places: FairSemaphore;
  readonly #deadlock = new Deadlock();
  readonly #slots = new Map<string, Slot>();
  readonly #idle: IdleIsolates<Slot>;
  #unshared = 0;
  /** Removed tool objects. A new object of the same manifest has the same hash, so a late call of these keeps its own isolate. */
  readonly #retired = new WeakSet<RegisteredTool>();
  #closed = false;

  constructor(host: PoolHost, clock: Clock, options: PoolOptions) {
    this.#host = host;
    this.#options = options;
    this.#places = new FairSemaphore(host.capacity ?? Infinity, { hasShares: true });
    this.#idle = new IdleIsolates(clock, host.idleBytes, (slot, reason) => this.#drop(slot, reason));
  }

  /** At once, where an isolate is open and alive. Rejects with what the host's `open` rejects with, and while the tool is in quarantine for this caller. */
  lease(tool: RegisteredTool, owner: Owner, waiter: Waiter = {}): Lease | Promise<Lease> {
    if (this.#closed) return Promise.reject(new IsolateFailure("ISOLATE_LOST", "The kernel was closed."));
    const slot = this.#take(this.#keyOf(tool, owner), tool, owner);
    if (slot instanceof IsolateFailure) return Promise.reject(slot);
    if (slot.opened?.alive) return this.#leaseOf(slot, slot.opened, owner);
    return this.#opened(slot, tool, owner, waiter);
  }

  get #isBounded(): boolean {
    return this.#places.size !== Infinity;
  }

  /** Rejects where no slot could ever become free. */
  #turnOf(slot: Slot, { within, caller }: Owner, waiter: Waiter): Promise<OwnIsolate> {
    if (!slot.leave || within.length === 0) return slot.isolate;
    const { leave } = waiter;
    const { promise: refused, reject } = Promise.withResolvers<never>();
    const refuse = (): void => {
      slot.calls--; // Others may wait for the same isolate; then its turn still comes.
      reject(deadlockIn(this.#host));
      leave?.(); // At once: a place that comes back before its run has ended is not for it.
    };
    const goOn = this.#deadlock.wait({ within, caller, refuse });
    waiter.leave = () => {
      goOn(); // Its caller waits no longer.
      leave?.();
    };
    this.#resolveStandstill();
    return Promise.race([refused, slot.isolate]).finally(goOn);
  }

  #resolveStandstill(): void {
    const places = this.#places;
    if (places.waiting === 0) return;
    this.#deadlock.resolve(this.#slots.values(), {
      places: places.size,
      inUse: places.held,
      inUseBy: (caller) => places.heldBy(caller),
    });
  }

  /** How long the kernel opens no isolate of the tool for this caller. */
  rest(tool: RegisteredTool, caller: string): Rest | undefined {
    return this.#options.backoff.rest(allOf(tool, caller));
  }

  /** Retires the present isolates of a tool for further calls. A used one ends with its last call. */
  retire(tool: RegisteredTool): void {
    const { hash } = tool;
    this.#retired.add(tool);
    // A copy: a slot that is in use goes back into the map under another key.
    const slots = [...this.#slots.values()];
    for (const slot of slots) {
      if (slot.tool.hash !== hash && slot.tool.composedOf !== hash) continue;
      if (slot.calls === 0) {
        this.#drop(slot, "its tool was unregistered");
        continue;
      }
      this.#forget(slot);
      slot.key = `retired ${this.#unshared++}`;
      slot.reuse = "call";
      this.#slots.set(slot.key, slot);
    }
  }

  close(): void {
    this.#closed = true;
    for (const slot of this.#slots.values()) this.#drop(slot, "the kernel was closed");
    this.#idle.close();
  }

  #keyOf(tool: RegisteredTool, owner: Owner): string {
    const { hash } = tool;
    const { caller, sessionId, around } = owner;
    switch (this.#reuse(tool, owner)) {
      case "always":
        return `${hash} ${around}`; // A digest has no space.
      case "session":
        return `${hash} ${around} ${caller.length} ${caller} ${sessionId}`; // Callers choose both names.
      case "call":
        return `${hash} ${this.#unshared++}`;
    }
  }

  #reuse(tool: RegisteredTool, { thaw }: Owner): Reuse {
    return thaw || this.#retired.has(tool) ? "call" : (this.#options.reuseOf?.(tool.manifest.name) ?? "session");
  }

  async #opened(slot: Slot, tool: RegisteredTool, owner: Owner, waiter: Waiter, isSecond = false): Promise<Lease> {
    let isWaiting = true;
    waiter.leave = () => {
      if (!isWaiting) return;
      isWaiting = false;
      if (--slot.wanted === 0) slot.leave?.();
    };
    const isolate = await this.#turnOf(slot, owner, waiter);
    if (isolate.alive || isSecond) {
      slot.opened = isolate;
      return this.#leaseOf(slot, isolate, owner);
    }
    // It died while it was idle: this call and all later ones get a new isolate.
    slot.calls--;
    this.#drop(slot, "dead");
    const another = isWaiting ? this.#take(slot.key, tool, owner) : nobodyWaits();
    if (another instanceof IsolateFailure) throw another;
    return this.#opened(another, tool, owner, waiter, true);
  }

  #leaseOf(slot: Slot, isolate: OwnIsolate, { callId }: Owner): Lease {
    let released = false;
    if (this.#isBounded) slot.callIds.push(callId);
    return {
      isolate,
      release: (excused) => {
        if (released) return;
        released = true;
        slot.stopped ||= excused === true && !isolate.alive;
        if (this.#isBounded) slot.callIds.splice(slot.callIds.indexOf(callId), 1);
        this.#release(slot, isolate);
      },
      stop: (reason) => {
        slot.stopped = true;
        isolate.terminate(reason);
      },
      isShared: () => slot.calls > 1,
    };
  }

  #take(key: string, tool: RegisteredTool, owner: Owner): Slot | IsolateFailure {
    let slot = this.#slots.get(key);
    if (slot && !this.#isUsable(slot, owner)) {
      this.#drop(slot, "its caller has its share of slots");
      slot = undefined;
    }
    if (slot === undefined) {
      const rest = this.rest(tool, owner.caller);
      if (rest) return new IsolateFailure("ISOLATE_LOST", ...quarantineText(tool, rest));
      slot = this.#open(key, tool, owner);
      this.#slots.set(key, slot);
    } else {
      this.#idle.remove(slot);
      slot.wanted++;
    }
    slot.calls++;
    return slot;
  }

  /** An idle isolate holds no place. A caller with its share waits for one, and another caller can have it meanwhile. */
  #isUsable(slot: Slot, { caller }: Owner): boolean {
    if (!this.#isBounded || slot.calls > 0 || !slot.opened) return true;
    const path = [caller, slot.tool.hash];
    const place = this.#places.isFull(path) ? undefined : this.#places.take(path);
    if (place?.kind !== "held") return false;
    slot.give = place.release;
    slot.caller = caller;
    return true;
  }

  #open(key: string, tool: RegisteredTool, owner: Owner): Slot {
    const place = this.#places.take([owner.caller, tool.hash]);
    const slot = newSlot(key, tool, owner, this.#reuse(tool, owner));
    if (place.kind === "held") this.#openIn(slot, place.release);
    else if (place.kind === "queued") {
      slot.isolate = new Promise((resolve, reject) => {
        slot.leave = () => {
          place.leave();
          this.#forget(slot);
          reject(nobodyWaits());
        };
        void place.turn.then((turn) => {
          if (turn.kind === "refused") return;
          slot.leave = undefined;
          this.#openIn(slot, turn.release);
          resolve(slot.isolate);
        });
      });
    }
    return slot;
  }

  #openIn(slot: Slot, give: () => void): void {
    slot.give = give;
    const isWanted = (): boolean => {
      if (slot.wanted > 0) return true;
      this.#forget(slot); // The next call gets another one.
      return false;
    };
    slot.isolate = slot.thaw ? slot.thaw(isWanted) : this.#host.open(slot.tool, isWanted);
    slot.isolate.then(
      (isolate) => isolate.watch?.(() => this.#wentOn(slot)),
      (error: unknown) => {
        this.#drop(slot, "could not be opened");
        if (slot.stopped || !isToolsFault(error)) return;
        this.#failed(slot, failingOf(slot.tool, slot.caller, error.blame === "code" ? "code" : undefined));
      },
    );
  }

  #wentOn(slot: Slot): void {
    if (!slot.stopped) {
      this.#failed(slot, failingOf(slot.tool, slot.caller), { wentOn: true });
      this.#options.onWentOn?.();
    }
    if (slot.calls === 0) this.#drop(slot, "dead");
  }

  #failed(slot: Slot, failing: Failing, failure?: Failure): void {
    slot.stopped = true; // Its other calls end with it, and it failed once.
    this.#options.backoff.failed(slot.tool.id, failing, failure);
  }

  #forget(slot: Slot): void {
    if (this.#slots.get(slot.key) === slot) this.#slots.delete(slot.key);
  }

  #release(slot: Slot, isolate: OwnIsolate): void {
    slot.calls--;
    const { tool, caller } = slot;
    if (isolate.alive) this.#options.backoff.succeeded(allOf(tool, caller));
    else if (!slot.stopped) this.#failed(slot, failingOf(tool, caller));
    if (!isolate.alive || this.#closed) return this.#drop(slot, "dead");
    if (slot.calls > 0) return this.#resolveStandstill();
    // It was given up, and opened all the same.
    if (this.#slots.get(slot.key) !== slot) return this.#drop(slot, "no call waited for it");
    if (slot.reuse === "call") return this.#drop(slot, "it serves one call");
    this.#idle.add(slot, isolate.heldBytes);
    if (this.#isBounded) this.#give(slot);
  }

  #drop(slot: Slot, reason: string): void {
    this.#idle.remove(slot);
    this.#forget(slot);
    slot.leave?.();
    slot.isolate.then(
      (isolate) => {
        isolate.terminate(reason);
        this.#give(slot);
      },
      () => this.#give(slot), // It never opened, so nothing has to close. Its callers were told.
    );
  }

  /** Gives the place back. Where nobody takes it, a deadlock can show. */
  #give(slot: Slot): void {
    slot.give?.();
    slot.give = undefined;
    this.#resolveStandstill();
  }
}
