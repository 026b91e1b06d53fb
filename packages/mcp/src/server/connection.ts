import type { Kernel } from "@keyhole/kernel";
import type { JSONRPCMessage, McpServer, Transport } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { McpCaller } from "./caller.ts";
import { type ChangedList, tellOf } from "./changed-lists.ts";
import type { McpServerOptions } from "./options.ts";
import { serverFor } from "./server.ts";
import { McpService } from "./service.ts";

/** A connection that is served until it ends. */
export interface McpConnection {
  close(): Promise<void>;
}

export interface McpConnectionOptions extends McpServerOptions {
  /** The client at the other end. */
  readonly caller: McpCaller;
}

/**
 * Serves a kernel's tools over a transport of the SDK that carries one client: stdio, a message port.
 *
 * @param onEnd the other end is gone
 */
export function serveConnection(
  kernel: Kernel,
  options: McpConnectionOptions,
  transport: Transport,
  onEnd?: () => void,
): McpConnection {
  const service = new McpService(kernel, options);
  const sessionId = options.caller.sessionId ?? `mcp-${crypto.randomUUID()}`;
  const live = new Set<McpServer>();
  const tell = (list: ChangedList): void => {
    for (const server of live) tellOf(list, server).catch(() => {}); // It is about to end, or has not begun.
  };
  const stopTools = kernel.onToolsChange(() => tell("tools"));
  const stopLists = options.onListChange?.(tell);
  const end = (): void => {
    stopTools();
    stopLists?.();
    service.close();
    onEnd?.();
  };
  const handle = serveStdio(
    () => {
      const server = serverFor(service, options.caller, sessionId);
      live.add(server);
      server.server.onclose = () => void live.delete(server);
      return server;
    },
    { transport: new EndingTransport(transport, end), ...(options.onError && { onerror: options.onError }) },
  );
  return { close: () => handle.close() };
}

/** Tells of the end of a transport, whoever ends it. */
class EndingTransport implements Transport {
  readonly #inner: Transport;
  readonly #onEnd: () => void;
  #hasEnded = false;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport["onmessage"];

  constructor(inner: Transport, onEnd: () => void) {
    this.#inner = inner;
    this.#onEnd = onEnd;
  }

  start(): Promise<void> {
    this.#inner.onmessage = (message, extra) => this.onmessage?.(message, extra);
    this.#inner.onerror = (error) => this.onerror?.(error);
    this.#inner.onclose = () => {
      this.onclose?.();
      if (this.#hasEnded) return;
      this.#hasEnded = true;
      this.#onEnd();
    };
    return this.#inner.start();
  }

  send(message: JSONRPCMessage): Promise<void> {
    return this.#inner.send(message);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}
