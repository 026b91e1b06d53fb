import {
  type FetchLike,
  type JSONRPCMessage,
  type RequestId,
  StreamableHTTPClientTransport,
  type Transport,
  type TransportSendOptions,
} from "@modelcontextprotocol/client";
import { boundedFetch } from "./bounded-fetch.ts";
import type { OpenOptions } from "./endpoint.ts";
import { resumptions } from "./resumptions.ts";
import type { ServedCall } from "./running-calls.ts";

export interface HttpServer {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly send: FetchLike;
  /** Sends each request with a token, and again with a new one. */
  readonly signing: (send: FetchLike) => FetchLike;
}

/** The transport forgets the oldest. A server can send no more messages in ten seconds. */
const MOST_ASKED = 10_000;

/**
 * Streamable HTTP, with a transport of its own for each request that serves a call. So the call pays for all that the transport sends and reads by itself: resumptions, and
 * answers to the server.
 */
export class HttpTransport implements Transport {
  readonly hasPerRequestStream = true;
  readonly #server: HttpServer;
  readonly #options: OpenOptions;
  readonly #resume: ReturnType<typeof resumptions>;
  readonly #shared: StreamableHTTPClientTransport;
  readonly #own = new Set<Transport>();
  /** By the ids of the server's own requests: the calls whose streams brought them. */
  readonly #asked = new Map<RequestId, ServedCall>();
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport["onmessage"];

  constructor(server: HttpServer, options: OpenOptions) {
    this.#server = server;
    this.#options = options;
    this.#resume = resumptions(options.clock, options.onFault);
    this.#shared = this.#transport(undefined);
    this.#shared.onclose = () => this.onclose?.();
  }

  get sessionId(): string | undefined {
    return this.#shared.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.#shared.setProtocolVersion(version);
  }

  start(): Promise<void> {
    return this.#shared.start();
  }

  send(message: JSONRPCMessage, options: TransportSendOptions = {}): Promise<void> {
    const call = this.#callOf(message);
    const shared: Transport = this.#shared;
    return call ? this.#sendFor(call, message, options) : shared.send(message, options);
  }

  async close(): Promise<void> {
    for (const transport of this.#own) await transport.close();
    await this.#shared.close();
  }

  #callOf(message: JSONRPCMessage): ServedCall | undefined {
    if (!("id" in message) || message.id === undefined) return undefined;
    const { id } = message;
    return "method" in message ? this.#options.callOf(id) : this.#asked.get(id);
  }

  /** The entry stays behind the answer: a server can ask twice under one id. */
  #ask(id: RequestId, call: ServedCall | undefined): void {
    this.#asked.delete(id);
    if (!call) return;
    this.#asked.set(id, call);
    const [oldest = id] = this.#asked.keys();
    if (this.#asked.size > MOST_ASKED) this.#asked.delete(oldest);
  }

  async #sendFor(call: ServedCall, message: JSONRPCMessage, options: TransportSendOptions): Promise<void> {
    const transport: Transport = this.#transport(call);
    const end = (): void => {
      this.#own.delete(transport);
      void transport.close();
    };
    this.#own.add(transport);
    await transport.start();
    options.requestSignal?.addEventListener("abort", end, { once: true });
    try {
      await transport.send(message, options);
    } catch (error) {
      end();
      throw error;
    }
    // The stream of a request stays open until its signal ends it.
    if (!("method" in message)) end();
  }

  #transport(call: ServedCall | undefined): StreamableHTTPClientTransport {
    const { url, headers, send, signing } = this.#server;
    const { sessionId, protocolVersion } = call ? this.#shared : {};
    const transport = new StreamableHTTPClientTransport(url, {
      fetch: boundedFetch(signing(call ? paidBy(call, send) : send), {
        ...this.#options,
        charge: (bytes, message) => this.#options.charge(bytes, message, call),
      }),
      reconnectionScheduler: this.#resume,
      ...(headers && { requestInit: { headers: { ...headers } } }),
      ...(sessionId !== undefined && { sessionId }),
      ...(protocolVersion !== undefined && { protocolVersion }),
    });
    transport.onerror = (error) => this.onerror?.(error);
    transport.onmessage = (message) => {
      if ("method" in message && "id" in message) this.#ask(message.id, call);
      this.onmessage?.(message);
    };
    return transport;
  }
}

function paidBy(call: ServedCall, send: FetchLike): FetchLike {
  return async (url, init) => {
    const { body } = init ?? {};
    const bytes = typeof body === "string" ? new TextEncoder().encode(body).length : 0;
    if (!call.request(bytes)) throw new Error("The call has ended, or its grants are used up.");
    return send(url, init);
  };
}
