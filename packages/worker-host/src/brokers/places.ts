import type { BrokerReply } from "@keyhole/kernel";
import { Shares } from "@keyhole/kernel/context";
import { FairSemaphore, type Settled } from "@keyhole/kernel/fair-semaphore";
import { pathOf, type Requester } from "../requester.ts";
import { cancelled, refused } from "./fault.ts";

/** Requests that wait. Beyond, the request of the caller with the most of them is refused. */
const WAITING = 100;

export interface PlacesOptions {
  /** Requests at the same time. */
  readonly size: number;
  /** The name of what takes a place, in the plural, for the refusal. */
  readonly subject: string;
  /** Bytes that the waiting requests of one caller hold. Default: no bound. */
  readonly waitingBytes?: number;
}

/**
 * The places of a broker, which all callers share. A caller takes one while it holds fewer than are
 * free. Other requests wait until their call ends: callers take turns, and so do the calls of each.
 */
export class Places {
  readonly #slots: FairSemaphore;
  readonly #options: PlacesOptions;
  readonly #waitingBytes = new Shares();

  constructor(options: PlacesOptions) {
    this.#options = options;
    this.#slots = new FairSemaphore(options.size, { maxWaiting: WAITING, hasShares: true });
  }

  /** @param bytes that the request holds while it waits */
  async serve(requester: Requester, serve: () => Promise<BrokerReply>, bytes = 0): Promise<BrokerReply> {
    const { subject, waitingBytes = Infinity } = this.#options;
    const { caller, signal } = requester;
    const slot = this.#slots.take(pathOf(requester), { signals: [signal] });
    let turn: Settled;
    if (slot.kind === "queued") {
      const isTooMuch = this.#waitingBytes.of(caller) + bytes > waitingBytes;
      if (isTooMuch) slot.leave();
      else this.#waitingBytes.add(caller, bytes);
      turn = await slot.turn;
      if (!isTooMuch) this.#waitingBytes.add(caller, -bytes);
    } else turn = slot;
    if (turn.kind === "held")
      try {
        return signal.aborted ? cancelled : await serve();
      } finally {
        turn.release();
      }
    return signal.aborted ? cancelled : refused("UNAVAILABLE", `Too many ${subject} wait already.`, "Try again later.");
  }
}
