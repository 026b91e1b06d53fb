import type { BusMessage } from "./port.ts";
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

  clear(): void {
    this.#subscriptions.clear();
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
