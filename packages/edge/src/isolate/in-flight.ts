import { FairSemaphore } from "@keyhole/kernel/fair-semaphore";

/** Cloudflare's bound for the dynamic Workers that one Durable Object talks to at the same time. */
export const maxInFlight = 10;

/** One isolate with calls, or before its first. */
interface Flight {
  calls: number;
  readonly turn: Promise<unknown>;
  /** Idempotent. */
  readonly end: () => void;
}

/** Isolates in flight at the same time. All calls into one isolate share its slot; the kernel's pool decides about the order among callers. */
export class InFlight {
  readonly #slots: FairSemaphore;
  readonly #flights = new Map<string, Flight>();

  constructor(limit: number) {
    this.#slots = new FairSemaphore(limit);
  }

  async run<Value>(id: string, call: () => Promise<Value>): Promise<Value> {
    const flight = this.#flights.get(id) ?? this.#begin(id);
    flight.calls++;
    try {
      await flight.turn;
      return await call();
    } finally {
      if (--flight.calls === 0) this.#end(id, flight);
    }
  }

  /** Frees the isolate's slot at once, also while code runs in it: it got the order to stop, and no call waits for it. */
  forget(id: string): void {
    const flight = this.#flights.get(id);
    if (flight) this.#end(id, flight);
  }

  #begin(id: string): Flight {
    const slot = this.#slots.take([]);
    const turn = slot.kind === "queued" ? slot.turn : Promise.resolve(slot);
    const end = (): void => {
      if (slot.kind === "queued") slot.leave();
      void turn.then((settled) => settled.kind === "held" && settled.release());
    };
    const flight: Flight = { calls: 0, turn, end };
    this.#flights.set(id, flight);
    return flight;
  }

  #end(id: string, flight: Flight): void {
    flight.end();
    if (this.#flights.get(id) === flight) this.#flights.delete(id);
  }
}
