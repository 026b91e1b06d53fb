import { newToken } from "../wire/token.ts";
import { Faults } from "../faults.ts";
import type { BusMessage } from "../port.ts";
import { connectionOf, mostBodyBytes, type LocalConnection, Router } from "../router.ts";
import { type ChannelMessage, readChannelMessage } from "./channel-message.ts";

/** Messages that wait for the choice of their sender, and choices that a sender remembers. */
const MOST_WAITING = 1_000;

/** The interface that a `BroadcastChannel` and a `MessagePort` share. */
export interface ChannelLike {
  postMessage(message: unknown): void;
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void;
  removeEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void;
  start?(): void;
}

/**
 * A bus over a `BroadcastChannel` between tabs and workers of one origin, or over the two ends of a `MessageChannel`. There is no server: of a queue's members the
 * first that answers is given the message, so that a tab that is gone gets none. Closing a connection leaves the channel open. The channel does not report a missing listener.
 *
 * @example
 * const bus = channelBus(new BroadcastChannel("tools"));
 */
export function channelBus(channel: ChannelLike): LocalConnection {
  return connectionOf(new ChannelLine(channel));
}

class ChannelLine {
  readonly #channel: ChannelLike;
  readonly router: Router = new Router();
  readonly faults: Faults = new Faults();
  readonly #member = newToken();
  /** By id: queues of a message of ours that wait for a member. */
  readonly #sent = new Map<string, Set<string>>();
  /** By id and queue: messages of others that were asked for. */
  readonly #asked = new Map<string, BusMessage>();

  constructor(channel: ChannelLike) {
    this.#channel = channel;
    channel.addEventListener("message", this.#hear);
    channel.start?.();
  }

  readonly send = (message: BusMessage): void => {
    const { subject, reply, headers, body } = message;
    const id = newToken();
    const queues = this.router.queuesOf(subject);
    // A channel does not give a message back to its sender. Queues that are here need no choice.
    keep(this.#sent, id, new Set(queues));
    this.#post({ type: "message", id, subject, reply, headers, body });
    queueMicrotask(() => {
      this.router.deliver(message);
      for (const queue of queues) this.router.deliverIn(queue, message);
    });
  };

  readonly close = (): void => this.#channel.removeEventListener("message", this.#hear);

  #post(message: ChannelMessage): void {
    this.#channel.postMessage({ keyhole: 1, ...message });
  }

  /** An answer to a channel that was closed meanwhile throws. */
  readonly #hear = ({ data }: { readonly data: unknown }): void =>
    this.faults.guard(() => {
      const heard = readChannelMessage(data, mostBodyBytes);
      if (heard?.type === "message") this.#take(heard);
      else if (heard?.type === "claim") this.#choose(heard);
      else if (heard?.type === "grant" && heard.member === this.#member) this.#granted(heard);
    });

  #take({ id, subject, reply, headers, body }: Extract<ChannelMessage, { type: "message" }>): void {
    const message = { subject, reply, headers, body, noResponders: false };
    this.router.deliver(message);
    const queues = this.router.queuesOf(subject);
    for (const queue of queues) {
      keep(this.#asked, `${id} ${queue}`, message);
      this.#post({ type: "claim", id, queue, member: this.#member });
    }
  }

  /** The first member of each queue. A claim for a message that is not ours is another sender's. */
  #choose({ id, queue, member }: Extract<ChannelMessage, { type: "claim" | "grant" }>): void {
    const chosen = this.#sent.get(id);
    if (!chosen || chosen.has(queue)) return;
    chosen.add(queue);
    this.#post({ type: "grant", id, queue, member });
  }

  #granted({ id, queue }: Extract<ChannelMessage, { type: "claim" | "grant" }>): void {
    const message = this.#asked.get(`${id} ${queue}`);
    if (!message) return;
    this.#asked.delete(`${id} ${queue}`);
    this.router.deliverIn(queue, message);
  }
}

function keep<Value>(all: Map<string, Value>, id: string, value: Value): void {
  const [oldest] = all.keys();
  if (all.size >= MOST_WAITING && oldest !== undefined) all.delete(oldest);
  all.set(id, value);
}
