import { type Clock, systemClock } from "@keyhole/kernel";
import { knownOptions } from "@keyhole/kernel/foreign";
import { Faults } from "../faults.ts";
import type { BusMessage, BusPort, OutgoingMessage } from "../port.ts";
import { type NatsHeaders, type NatsMessage, readMessage } from "./read-message.ts";
import { standingSubscription } from "./standing-subscription.ts";

/** The server counts headers as a part of its `max_payload`. */
const HEADER_BYTES = 16_384;
const PAYLOAD_BYTES = 1_048_576;

/** The used part of a connection of NATS's client. */
export interface NatsLike<Headers extends NatsHeaders> {
  readonly info?: { readonly max_payload: number } | undefined;
  publish(subject: string, body: Uint8Array, options: { headers: Headers; reply?: string }): void;
  subscribe(
    pattern: string,
    options: { queue?: string; callback: (error: Error | null, message: NatsMessage<Headers>) => void },
  ): { unsubscribe(): void };
  flush(): Promise<void>;
  status(): AsyncIterable<{ readonly type: string }>;
  /** Resolves at the end of the connection, with the error that ended it. */
  closed(): Promise<unknown>;
}

/**
 * A connection to NATS as a bus. The program connects, with `@nats-io/transport-node` on Node and with `wsconnect` of `@nats-io/nats-core` in browsers and Workers.
 *
 * @param connection of a server of version 2.2 or newer. Give it `maxReconnectAttempts: -1`: calls wait for the connection
 * @param headers of the same package
 * @example
 * import { connect, headers } from "@nats-io/transport-node";
 * const bus = natsBus(await connect({ servers: "nats://127.0.0.1:4222", maxReconnectAttempts: -1 }), headers);
 */
export function natsBus<Headers extends NatsHeaders>(
  connection: NatsLike<Headers>,
  headers: () => Headers,
  options: { readonly clock?: Clock } = {},
): BusPort {
  const { clock = systemClock } = knownOptions(options, { clock: true }, "natsBus");
  return new NatsPort(connection, headers, clock);
}

class NatsPort<Headers extends NatsHeaders> implements BusPort {
  readonly bodyBytes: number;
  readonly #connection: NatsLike<Headers>;
  readonly #newHeaders: () => Headers;
  readonly #clock: Clock;
  readonly #faults = new Faults();
  readonly #listeners = new Set<() => void>();
  #isConnected = true;

  constructor(connection: NatsLike<Headers>, newHeaders: () => Headers, clock: Clock) {
    this.#connection = connection;
    this.#newHeaders = newHeaders;
    this.#clock = clock;
    this.bodyBytes = (connection.info?.max_payload ?? PAYLOAD_BYTES) - HEADER_BYTES;
    void this.#watch();
  }

  get isConnected(): boolean {
    return this.#isConnected;
  }

  publish(subject: string, { reply, headers, body }: OutgoingMessage): void {
    if (body.length > this.bodyBytes)
      throw new RangeError(`A body has at most ${this.bodyBytes} bytes; got ${body.length}.`);
    const own = this.#newHeaders();
    for (const [name, value] of headers) own.set(name, value);
    this.#connection.publish(subject, body, { headers: own, ...(reply !== undefined && { reply }) });
  }

  subscribe(
    pattern: string,
    listener: (message: BusMessage) => void,
    { queue }: { readonly queue?: string } = {},
  ): () => void {
    const faults = this.#faults;
    const subscribe = (onEnd: (error: Error) => void): { unsubscribe(): void } => {
      // A throw would end the client's reader of the whole connection, silently.
      const callback = (error: Error | null, message: NatsMessage<Headers>): void =>
        error ? onEnd(error) : faults.guard(() => listener(readMessage(message)));
      return this.#connection.subscribe(pattern, { callback, ...(queue !== undefined && { queue }) });
    };
    return standingSubscription({ subscribe, pattern, faults, clock: this.#clock });
  }

  flush(): Promise<void> {
    return this.#connection.flush();
  }

  onReconnect(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  onFault(listener: (error: Error) => void): () => void {
    return this.#faults.listen(listener);
  }

  /** Ends with the connection. */
  async #watch(): Promise<void> {
    for await (const { type } of this.#connection.status()) {
      if (type === "disconnect") this.#isConnected = false;
      if (type !== "reconnect") continue;
      this.#isConnected = true;
      for (const listener of this.#listeners) this.#faults.guard(listener);
    }
    const error = await this.#connection.closed();
    if (error instanceof Error) this.#faults.report(new Error(`The connection to NATS has ended: ${error.message}`));
  }
}
