import { mcpJsonSchemaValidator } from "@keyhole/kernel/schema/mcp";
import type { Clock, ToolContext } from "@keyhole/kernel";
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
import { callFault, causeOf } from "./call-result.ts";
import type { DirectCalls } from "./direct-calls.ts";
import type { McpEndpoint } from "./endpoint.ts";
import { GuardedTransport } from "./guard.ts";
import { type RequestLimits, RunningCalls } from "./running-calls.ts";

/** A server of the older era may not answer what it does not know. */
const PROBE_MS = 10_000;
/** `npx` may have to install the server. */
const START_MS = 60_000;
/** Of resources. Each page is a message of bounded length. */
const MOST_PAGES = 1_000;
const FIRST_REST_MS = 1_000;
const LONGEST_REST_MS = 60_000;
/** The kernel's own deadline comes first. */
const GRACE_MS = 250;

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
  /** Of one request that serves a call. */
  readonly timeoutMs: number;
  /** Before each call. @throws Error where the server waits for a person */
  readonly assertOpen: () => void;
  /** With each new connection, before it is used. */
  readonly onOpen: (client: Client) => Promise<void>;
  readonly onListChanged: (list: McpList) => void;
  /** Of no call, or of one of several. */
  readonly onLog: (level: LoggingLevel, data: unknown) => void;
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
  readonly #running = new RunningCalls();
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

  /** As the newest connection has it. */
  get era(): McpEra | undefined {
    return this.#era;
  }

  /** Something that the kernel allowed. @throws Error in our own words where it fails */
  async request<Value>(
    context: ToolContext,
    send: (open: Open, limits: RequestLimits) => Promise<Value>,
  ): Promise<Value> {
    const { timeoutMs, assertOpen } = this.#ports;
    assertOpen();
    const { signal } = context;
    let open: Open | undefined;
    try {
      const value = await this.#running.run(context, async (relatedRequestId) => {
        open = await this.#opened();
        return send(open, { relatedRequestId, signal, timeout: timeoutMs + GRACE_MS });
      });
      this.#failures = 0;
      return value;
    } catch (error) {
      throw callFault(causeOf(error, open?.transport.fault), timeoutMs);
    }
  }

  readonly #log = (level: LoggingLevel, data: unknown): void => {
    const call = this.#running.only;
    if (call) call.log(typeof data === "string" ? data : (JSON.stringify(data) ?? ""), levels[level]);
    else this.#ports.onLog(level, data);
  };

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
    open.catch((error: unknown) => this.#failed(open, error));
    return open;
  }

  async #connect(): Promise<Open> {
    await this.#ports.endpoint.prepare?.();
    const open = await this.#negotiate();
    const opened = this.#open;
    const { client, transport } = open;
    client.onclose = () => this.#failed(opened, transport.fault);
    try {
      await this.#ports.onOpen(client);
    } catch (error) {
      const cause = callFault(causeOf(error, transport.fault), START_MS);
      this.#failed(opened, cause);
      await client.close().catch(() => {});
      throw cause;
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
    const { endpoint, onListChanged } = this.#ports;
    const transport = new GuardedTransport(endpoint, {
      ...this.#ports,
      running: this.#running,
      onRequest: (method) =>
        this.#log(
          "warning",
          `The server asked its client for ${JSON.stringify(method.slice(0, 100))}. Keyhole refused.`,
        ),
    });
    const client = new Client(identity, {
      capabilities,
      versionNegotiation: { mode, probe: { timeoutMs: PROBE_MS } },
      jsonSchemaValidator: mcpJsonSchemaValidator(),
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
    client.setNotificationHandler("notifications/message", ({ params }) => this.#log(params.level, params.data));
    try {
      await client.connect(transport, { timeout: START_MS });
    } catch (error) {
      await transport.close().catch(() => {});
      // The end of a server that was too slow is ours: it is not why it did not start.
      throw isTimeout(error) ? tooSlow() : callFault(causeOf(error, transport.fault), START_MS);
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

const levels = {
  debug: "debug",
  info: "info",
  notice: "info",
  warning: "warn",
  error: "error",
  critical: "error",
  alert: "error",
  emergency: "error",
} as const satisfies Record<LoggingLevel, string>;
