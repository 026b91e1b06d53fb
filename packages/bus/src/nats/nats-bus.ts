import type { BusMessage, BusPort, OutgoingMessage } from "../port.ts";

/** The server counts headers as a part of its `max_payload`. */
const HEADER_BYTES = 16_384;
const PAYLOAD_BYTES = 1_048_576;
/** The server's report of a missing listener. */
const NO_RESPONDERS = 503;

/** Headers of a message, as NATS's client has them. */
export interface NatsHeaders {
  /** Of the server's own words; 0 where there are none. */
  readonly code: number;
  keys(): readonly string[];
  get(name: string): string;
  set(name: string, value: string): void;
}

interface NatsMessage<Headers> {
  readonly subject: string;
  readonly reply?: string | undefined;
  readonly headers?: Headers | undefined;
  readonly data: Uint8Array;
}

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
export function natsBus<Headers extends NatsHeaders>(connection: NatsLike<Headers>, headers: () => Headers): BusPort {
  return new NatsPort(connection, headers);
}

class NatsPort<Headers extends NatsHeaders> implements BusPort {
  readonly bodyBytes: number;
  readonly #connection: NatsLike<Headers>;
  readonly #newHeaders: () => Headers;
  readonly #listeners = new Set<() => void>();
  #isConnected = true;

  constructor(connection: NatsLike<Headers>, newHeaders: () => Headers) {
    this.#connection = connection;
    this.#newHeaders = newHeaders;
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
    const callback = (error: Error | null, message: NatsMessage<Headers>): void => {
      if (!error) listener(messageOf(message));
    };
    const subscription = this.#connection.subscribe(pattern, { callback, ...(queue !== undefined && { queue }) });
    return () => subscription.unsubscribe();
  }

  flush(): Promise<void> {
    return this.#connection.flush();
  }

  onReconnect(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Ends with the connection. */
  async #watch(): Promise<void> {
    for await (const { type } of this.#connection.status()) {
      if (type === "disconnect") this.#isConnected = false;
      if (type !== "reconnect") continue;
      this.#isConnected = true;
      for (const listener of this.#listeners) listener();
    }
  }
}

function messageOf({ subject, reply, headers, data }: NatsMessage<NatsHeaders>): BusMessage {
  return {
    subject,
    reply: reply === undefined || reply === "" ? undefined : reply,
    headers: headers ? plain(headers) : new Map(),
    body: data,
    noResponders: headers?.code === NO_RESPONDERS && data.length === 0,
  };
}

/** Of several values of one header the first counts. */
function plain(headers: NatsHeaders): ReadonlyMap<string, string> {
  return new Map(headers.keys().map((name) => [name, headers.get(name)]));
}
