import type { Clock } from "@keyhole/kernel";
import {
  Client,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LOG_LEVEL_META_KEY,
  type LoggingLevel,
  PROTOCOL_VERSION_META_KEY,
  SdkError,
  SdkErrorCode,
} from "@modelcontextprotocol/client";
import { jsonValidator } from "../json-validator.ts";
import type { DirectCalls } from "./direct-calls.ts";
import type { McpEndpoint } from "./endpoint.ts";
import { GuardedTransport } from "./guard.ts";
import type { RunningCalls } from "./running-calls.ts";

/** A server of the older era may not answer what it does not know. */
const PROBE_MS = 10_000;
/** `npx` may have to install the server. */
const START_MS = 60_000;
/** Each page is a message of bounded length. */
const MOST_PAGES = 10;
const FIRST_REST_MS = 1_000;
const LONGEST_REST_MS = 60_000;

/** In each request of the newer era. */
export const wantsLog: { readonly [LOG_LEVEL_META_KEY]: LoggingLevel } = { [LOG_LEVEL_META_KEY]: "info" };
const identity = { name: "keyhole", version: "0.0.0" };
const capabilities = {};
const atOnce = { autoRefresh: false, debounceMs: 0 } as const;

/** A list that a server can say has changed. */
export type McpList = "tools" | "prompts" | "resources";

export type McpEra = "2026-07-28" | "2025-11-25";

export interface ConnectionPorts {
  readonly name: string;
  readonly endpoint: McpEndpoint;
  readonly era: McpEra | undefined;
  readonly messageBytes: number;
  readonly clock: Clock;
  readonly running: RunningCalls;
  /** With each new connection, before it is used. */
  readonly onOpen: (client: Client) => Promise<void>;
  readonly onListChanged: (list: McpList) => void;
  readonly onLog: (level: LoggingLevel, data: unknown) => void;
  /** The server asked for something: sampling, elicitation, roots. The source refuses it. */
  readonly onRequest: (method: string) => void;
}

/** A connection that is open. */
export interface Open {
  readonly client: Client;
  readonly transport: GuardedTransport;
  /** `undefined` where the client has to make the calls. */
  readonly calls: DirectCalls | undefined;
}

/** A connection to a server that is opened when it is needed, and opened again when it ended. The source pauses between starts of a server that keeps failing. */
export class ServerConnection {
  readonly #ports: ConnectionPorts;
  #era: McpEra | undefined;
  #open: Promise<Open> | undefined;
  #failures = 0;
  #restsUntilMs = 0;
  #lastFault = "";
  #isClosed = false;

  constructor(ports: ConnectionPorts) {
    this.#ports = ports;
    this.#era = ports.era;
  }

  /** @throws Error where the server cannot be reached, or is left alone */
  async client(): Promise<Client> {
    return (await this.#opened()).client;
  }

  /** The client with what is beneath it. @throws as `client` does */
  async open(): Promise<Open> {
    return this.#opened();
  }

  /** A call got an answer: the server works. */
  proven(): void {
    this.#failures = 0;
  }

  /** The act of the server that ended its connection, or the error as it is. */
  async faultOf(error: unknown): Promise<unknown> {
    try {
      return (await this.#last)?.transport.fault ?? error;
    } catch {
      return error;
    }
  }

  #last: Promise<Open> | undefined;

  async close(): Promise<void> {
    this.#isClosed = true;
    const open = await this.#open?.catch(() => undefined);
    this.#open = undefined;
    await open?.client.close().catch(() => {}); // It ended before.
  }

  #opened(): Promise<Open> {
    const { name, clock } = this.#ports;
    if (this.#isClosed) throw new Error(`The source ${name} is closed.`);
    if (this.#open) return this.#open;
    const restMs = this.#restsUntilMs - clock.monotonicMs();
    if (restMs > 0)
      throw new Error(
        `The server ${name} failed ${this.#failures} times. The next try is in ${Math.ceil(restMs)} ms. ${this.#lastFault}`.trim(),
      );
    const open = this.#connect();
    this.#open = open;
    this.#last = open;
    open.catch((error: unknown) => this.#failed(open, error));
    return open;
  }

  async #connect(): Promise<Open> {
    await this.#ports.endpoint.prepare?.();
    const open = await this.#negotiate();
    const opened = this.#open;
    open.client.onclose = () => this.#failed(opened, open.transport.fault);
    try {
      await this.#ports.onOpen(open.client);
    } catch (error) {
      await open.client.close().catch(() => {});
      throw open.transport.fault ?? error;
    }
    return open;
  }

  /** A server of the older era can end at the first request that it does not know. Then it is started again and greeted in its own way. */
  async #negotiate(): Promise<Open> {
    if (this.#era !== undefined) return this.#attempt(this.#era === "2025-11-25" ? "legacy" : { pin: this.#era });
    try {
      return await this.#attempt("auto");
    } catch {
      return this.#attempt("legacy");
    }
  }

  async #attempt(mode: "auto" | "legacy" | { readonly pin: string }): Promise<Open> {
    const { endpoint, onListChanged, onLog } = this.#ports;
    const transport = new GuardedTransport(endpoint, this.#ports);
    const client = new Client(identity, {
      capabilities,
      versionNegotiation: { mode, probe: { timeoutMs: PROBE_MS } },
      jsonSchemaValidator: jsonValidator,
      inputRequired: { autoFulfill: false },
      listMaxPages: MOST_PAGES,
      // Not held back here: notices without a pause would put the list off for good.
      listChanged: {
        tools: { ...atOnce, onChanged: () => onListChanged("tools") },
        prompts: { ...atOnce, onChanged: () => onListChanged("prompts") },
        resources: { ...atOnce, onChanged: () => onListChanged("resources") },
      },
    });
    client.onerror = () => {}; // What matters fails a request, or ends the connection.
    client.setNotificationHandler("notifications/message", ({ params }) => onLog(params.level, params.data));
    try {
      await client.connect(transport, { timeout: START_MS });
    } catch (error) {
      await transport.close().catch(() => {});
      // The end of a server that was too slow is ours: it is not why it did not start.
      throw isTimeout(error) ? tooSlow() : (transport.fault ?? error);
    }
    const isModern = client.getProtocolEra() === "modern";
    this.#era = isModern ? "2026-07-28" : "2025-11-25";
    const { calls } = transport;
    if (!isModern) return { client, transport, calls };
    if (!transport.hasProcess) return { client, transport, calls: undefined };
    calls.speakModern({
      [PROTOCOL_VERSION_META_KEY]: client.getNegotiatedProtocolVersion(),
      [CLIENT_INFO_META_KEY]: identity,
      [CLIENT_CAPABILITIES_META_KEY]: capabilities,
      ...wantsLog,
    });
    return { client, transport, calls };
  }

  #failed(open: Promise<Open> | undefined, error: unknown): void {
    if (this.#open !== open) return;
    this.#open = undefined;
    if (this.#isClosed) return;
    this.#lastFault = error instanceof Error ? error.message.slice(0, 300) : "";
    const restMs = Math.min(LONGEST_REST_MS, FIRST_REST_MS * 2 ** Math.max(0, this.#failures - 1));
    // The first restart is free: a server may end after each piece of work.
    this.#restsUntilMs = this.#failures++ === 0 ? 0 : this.#ports.clock.monotonicMs() + restMs;
  }
}

const isTimeout = (error: unknown): boolean => error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout;

const tooSlow = (): Error => new Error(`The server did not start within ${START_MS} ms.`);
