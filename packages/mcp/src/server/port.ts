import type { Kernel } from "@keyhole/kernel";
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCMessage,
  type Transport,
} from "@modelcontextprotocol/server";
import { type McpConnection, type McpConnectionOptions, serveConnection } from "./connection.ts";

/** The part of a message port that a page, a worker and Node share. */
export interface PortLike {
  postMessage(message: unknown): void;
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void;
  removeEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void;
  start?(): void;
  close?(): void;
}

/**
 * JSON-RPC over a message port: each message is one object, as a structured clone. Both ends use it, the client with the SDK's `Client`. A port does not tell when its
 * other end goes: `null` says so.
 */
export class PortTransport implements Transport {
  readonly #port: PortLike;
  #open = true;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport["onmessage"];

  constructor(port: PortLike) {
    this.#port = port;
  }

  async start(): Promise<void> {
    this.#port.addEventListener("message", this.#hear);
    this.#port.start?.();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (!this.#open) throw new Error("The port is closed.");
    this.#port.postMessage(message);
  }

  async close(): Promise<void> {
    if (this.#open) this.#port.postMessage(null);
    this.#end();
  }

  /** On Node a throw of a port's listener ends the process. */
  readonly #hear = ({ data }: { readonly data: unknown }): void => {
    try {
      this.#take(data);
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  };

  #take(data: unknown): void {
    if (data === null) this.#end();
    else if (isJSONRPCRequest(data) || isJSONRPCNotification(data) || isJSONRPCResponse(data)) this.onmessage?.(data);
    else throw new Error("A message on the port is not JSON-RPC.");
  }

  #end(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#port.removeEventListener("message", this.#hear);
    this.#port.close?.();
    this.onclose?.();
  }
}

/**
 * Serves a kernel's tools to the holder of the other end of a message port: a page, a frame, a worker. The sender of the port decides who the caller is.
 *
 * @example
 * const { port1, port2 } = new MessageChannel();
 * serveMcpPort(kernel, port1, { caller: { caller: "assistant" } });
 * await client.connect(new PortTransport(port2));
 */
export function serveMcpPort(kernel: Kernel, port: PortLike, options: McpConnectionOptions): McpConnection {
  return serveConnection(kernel, options, new PortTransport(port));
}
