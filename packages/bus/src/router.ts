import type { Faults } from "./faults.ts";
import type { BusMessage, BusPort } from "./port.ts";
import { matchesSubject } from "./wire/subjects.ts";

interface Subscription {
  readonly pattern: string;
  readonly queue: string | undefined;
  readonly listener: (message: BusMessage) => void;
}

/** Subscriptions by pattern, for buses without a server. */
export class Router {
  readonly #subscriptions = new Set<Subscription>();
  #turn = 0;

  add(pattern: string, listener: (message: BusMessage) => void, queue: string | undefined): () => void {
    const subscription = { pattern, listener, queue };
    this.#subscriptions.add(subscription);
    return () => void this.#subscriptions.delete(subscription);
  }

  /** The queue groups that a subject has here. */
  queuesOf(subject: string): readonly string[] {
    return [...new Set(this.#matching(subject).flatMap(({ queue }) => (queue === undefined ? [] : [queue])))];
  }

  /** To each subscription without a queue. Returns how many there are. */
  deliver(message: BusMessage): number {
    const plain = this.#matching(message.subject).filter(({ queue }) => queue === undefined);
    for (const { listener } of plain) listener(message);
    return plain.length;
  }

  /** To one subscription of a queue: each in its turn. */
  deliverIn(queue: string, message: BusMessage): void {
    const members = this.#matching(message.subject).filter((each) => each.queue === queue);
    members[this.#turn++ % members.length]?.listener(message);
  }

  #matching(subject: string): readonly Subscription[] {
    return [...this.#subscriptions].filter(({ pattern }) => matchesSubject(pattern, subject));
  }
}

/** Of one message. */
export const mostBodyBytes = 1_048_576;

/** A connection that the program closes. */
export interface LocalConnection extends BusPort {
  close(): void;
}

/** The parts in which buses without a server differ. */
interface Line {
  readonly router: Router;
  readonly faults: Faults;
  readonly send: (message: BusMessage) => void;
  readonly close?: () => void;
}

export function connectionOf({ router, faults, send, close }: Line): LocalConnection {
  const stops = new Set<() => void>();
  let isOpen = true;
  const assertOpen = (): void => {
    if (!isOpen) throw new Error("The connection to the bus is closed.");
  };
  return {
    bodyBytes: mostBodyBytes,
    get isConnected() {
      return isOpen;
    },
    publish(subject, { reply, headers, body }) {
      assertOpen();
      if (body.length > mostBodyBytes)
        throw new RangeError(`A body has at most ${mostBodyBytes} bytes; got ${body.length}.`);
      send({ subject, reply, headers: new Map(headers), body: body.slice(), noResponders: false });
    },
    subscribe(pattern, listener, { queue } = {}) {
      const stop = router.add(pattern, (message) => faults.guard(() => listener(message)), queue);
      stops.add(stop);
      return stop;
    },
    flush: async () => assertOpen(),
    onReconnect: () => () => {},
    onFault: (listener) => faults.listen(listener),
    close() {
      isOpen = false;
      for (const stop of stops) stop();
      close?.();
    },
  };
}
