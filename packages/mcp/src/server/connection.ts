import type { Kernel } from "@keyhole/kernel";
import { knownOptions } from "@keyhole/kernel/foreign";
import type { JSONRPCMessage, McpServer, Transport } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { McpCaller } from "./caller.ts";
import { type ChangedList, tellOf } from "./changed-lists.ts";
import { DirectCalls } from "./direct-calls.ts";
import { type McpServerOptions, serverOptions } from "./options.ts";
import { serverFor } from "./server.ts";
import { McpService } from "./service.ts";

/** A connection, from its start to its end. */
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
  knownOptions(options, { ...serverOptions, caller: true }, "An MCP server");
  const service = new McpService(kernel, options);
  const sessionId = options.caller.sessionId ?? `mcp-${crypto.randomUUID()}`;
  const live = new Set<McpServer>();
  const tell = (list: ChangedList): void => {
    for (const server of live) tellOf(list, server).catch(() => {}); // It is about to end, or has not begun.
  };
  const stopTools = kernel.onToolsChange(() => tell("tools"));
  const stopLists = options.onListChange?.(tell);
  const calls = new DirectCalls(service, (message) => transport.send(message));
  const end = (): void => {
    calls.end();
    stopTools();
    stopLists?.();
    service.close();
    onEnd?.();
  };
  const handle = serveStdio(
    ({ era }) => {
      const server = serverFor(service, options.caller, sessionId);
      live.add(server);
      if (era === "legacy") calls.serve({ server, caller: options.caller, sessionId });
      server.server.onclose = () => void live.delete(server);
      return server;
    },
    { transport: new CallTransport(transport, calls, end), ...(options.onError && { onerror: options.onError }) },
  );
  return { close: () => handle.close() };
}

/** A transport without the plain calls of tools. It reports its end, which either side may cause. */
class CallTransport implements Transport {
  readonly #inner: Transport;
  readonly #calls: DirectCalls;
  readonly #onEnd: () => void;
  #hasEnded = false;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport["onmessage"];

  constructor(inner: Transport, calls: DirectCalls, onEnd: () => void) {
    this.#inner = inner;
    this.#calls = calls;
    this.#onEnd = onEnd;
  }

  start(): Promise<void> {
    this.#inner.onmessage = (message, extra) => {
      if (!this.#calls.take(message)) this.onmessage?.(message, extra);
    };
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
