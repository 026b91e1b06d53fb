import type { Clock, ToolContext } from "@keyhole/kernel";
import { FairSemaphore, type Queued, type Settled } from "@keyhole/kernel/fair-semaphore";
import { type Open, ServerConnection, type ConnectionPorts } from "./connection.ts";
import type { RequestLimits } from "./running-calls.ts";

/** Connections of callers to one server at the same time. */
export const CONNECTIONS = 16;
/** A browser of a server is gone with its connection: a person returns to it after lunch. */
export const IDLE_MS = 3_600_000;

export interface ConnectionBounds {
  readonly isShared: boolean;
  readonly most: number;
  readonly idleMs: number;
}

type Send<Value> = (open: Open, limits: RequestLimits) => Promise<Value>;

/** One caller's part of the bound, from its first call to the end of its connection. */
interface Place {
  readonly caller: string;
  readonly connection: ServerConnection;
  readonly slot: Settled | Queued;
  calls: number;
  /** Only while no call runs: the caller may come again. */
  stopIdling: (() => void) | undefined;
}

/**
 * The connections to one server. Each caller has its own, so no caller meets what another left at the server. No call uses the source's own connection, from which it reads lists.
 */
export class CallerConnections {
  readonly own: ServerConnection;
  readonly #ports: ConnectionPorts;
  readonly #bounds: ConnectionBounds;
  readonly #clock: Clock;
  readonly #slots: FairSemaphore;
  /** By caller. Idle ones in the order in which their last calls ended. */
  readonly #places = new Map<string, Place>();
  readonly #ending = new Set<Promise<void>>();
  #isClosed = false;

  constructor(ports: ConnectionPorts, bounds: ConnectionBounds) {
    this.own = new ServerConnection(ports);
    this.#ports = ports;
    this.#bounds = bounds;
    this.#clock = ports.clock;
    this.#slots = new FairSemaphore(bounds.most);
  }

  /** Something that the kernel allowed, on the connection of the caller. @throws Error in our own words where it fails */
  async request<Value>(context: ToolContext, send: Send<Value>): Promise<Value> {
    if (this.#bounds.isShared) return this.own.request(context, send);
    const { onward, signal } = context;
    if (this.#isClosed || !onward) throw new Error("The source is closed.");
    const place = this.#places.get(onward.caller) ?? this.#enter(onward.caller);
    place.stopIdling?.();
    place.stopIdling = undefined;
    place.calls++;
    let isOver = false;
    const end = (): void => {
      if (!isOver) this.#rest(place);
      isOver = true;
    };
    signal.addEventListener("abort", end, { once: true });
    try {
      const { kind } = await turnOf(place);
      signal.removeEventListener("abort", end);
      if (kind === "refused") throw new Error("The call ended before the server had a connection for it.");
      return await place.connection.request(context, send);
    } finally {
      end();
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const place of this.#places.values()) this.#end(place);
    await Promise.all([this.own.close(), ...this.#ending]);
  }

  /** Waits while all places are taken: the kernel bounds the calls that wait, and how long. */
  #enter(caller: string): Place {
    const place: Place = {
      caller,
      connection: new ServerConnection({ ...this.#ports, era: this.own.era }),
      slot: this.#slots.take([caller]),
      calls: 0,
      stopIdling: undefined,
    };
    this.#places.set(caller, place);
    this.#makeRoom();
    return place;
  }

  #rest(place: Place): void {
    if (--place.calls > 0 || this.#places.get(place.caller) !== place) return;
    if (place.slot.kind === "queued" && place.slot.position > 0) return this.#end(place);
    this.#places.delete(place.caller);
    this.#places.set(place.caller, place);
    place.stopIdling = this.#clock.after(this.#bounds.idleMs, () => this.#end(place), "idly");
    this.#makeRoom();
  }

  /** The longest idle connection ends for a caller that waits. */
  #makeRoom(): void {
    if (this.#slots.waiting <= this.#ending.size) return;
    for (const place of this.#places.values()) if (place.stopIdling) return this.#end(place);
  }

  /** Its place is free when its process has ended. */
  #end(place: Place): void {
    this.#places.delete(place.caller);
    place.stopIdling?.();
    if (place.slot.kind === "queued") place.slot.leave();
    const ended = Promise.all([turnOf(place), place.connection.close()]).then(([settled]) => {
      this.#ending.delete(ended);
      if (settled.kind === "held") settled.release();
    });
    this.#ending.add(ended);
  }
}

const turnOf = async ({ slot }: Place): Promise<Settled> => (slot.kind === "queued" ? slot.turn : slot);
