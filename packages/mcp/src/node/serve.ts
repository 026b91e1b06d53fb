import type { Readable, Writable } from "node:stream";
import type { Kernel } from "@keyhole/kernel";
import { knownOptions } from "@keyhole/kernel/foreign";
import { type McpConnection, type McpConnectionOptions, serveConnection } from "../server/connection.ts";
import { handlerOptions, mcpHandler, type McpHandlerOptions } from "../server/http.ts";
import { serverOptions } from "../server/options.ts";
import { isLoopback, listen } from "./listen.ts";
import { StdioTransport } from "./stdio-transport.ts";

export interface McpStdioOptions extends McpConnectionOptions {
  /** The client is gone. */
  readonly onEnd?: () => void;
  /** Messages of the client, one a line. Default: stdin of this process. */
  readonly input?: Readable;
  /** Messages to the client. Default: stdout. */
  readonly output?: Writable;
}

/**
 * Serves a kernel's tools to the program that started this one, over stdin and stdout. Nothing else may write to stdout.
 *
 * @example
 * serveMcpStdio(kernel, { caller: { caller: "desk" }, onEnd: () => void kernel.close() });
 */
export function serveMcpStdio(kernel: Kernel, given: McpStdioOptions): McpConnection {
  const known = { ...serverOptions, caller: true, onEnd: true, input: true, output: true } as const;
  const { onEnd, input, output, ...options } = knownOptions(given, known, "serveMcpStdio");
  return serveConnection(kernel, options, new StdioTransport(input, output), onEnd);
}

export interface McpHttpOptions extends McpHandlerOptions {
  /** Default 0: a free one. */
  readonly port?: number;
  /** The address to listen at. Default 127.0.0.1. Another one needs `hosts`. */
  readonly address?: string;
}

export interface McpHttpServer {
  /** Of the endpoint. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves a kernel's tools over Streamable HTTP.
 *
 * @throws TypeError for an address that others reach, without `hosts`
 * @throws the fault of the system where it cannot listen
 * @example
 * const server = await serveMcpHttp(kernel, { port: 8931, authenticate: bearerTokens([[token, { caller: "desk" }]]) });
 * console.log(server.url);
 */
export async function serveMcpHttp(kernel: Kernel, given: McpHttpOptions): Promise<McpHttpServer> {
  const options = knownOptions(given, { ...handlerOptions, port: 0, address: true }, "serveMcpHttp");
  const { port = 0, address = "127.0.0.1", ...rest } = options;
  if (!isLoopback(address) && options.hosts === undefined)
    throw new TypeError(`Others reach ${address}. Name the hosts by which clients reach this server: \`hosts\`.`);
  const handler = mcpHandler(kernel, rest);
  const { origin, close } = await listen(handler.fetch, { port, address }, options.onError);
  return {
    url: `${origin}${options.path ?? "/mcp"}`,
    async close() {
      await handler.close();
      await close();
    },
  };
}
