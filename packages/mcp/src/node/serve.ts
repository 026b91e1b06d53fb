import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, isIP } from "node:net";
import { Readable } from "node:stream";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";
import type { Kernel } from "@keyhole/kernel";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { type McpConnection, type McpConnectionOptions, serveConnection } from "../server/connection.ts";
import { mcpHandler, type McpHandlerOptions } from "../server/http.ts";

export interface McpStdioOptions extends McpConnectionOptions {
  /** The client is gone. */
  readonly onEnd?: () => void;
}

/**
 * Serves a kernel's tools to the program that started this one, over stdin and stdout. Nothing else may write to stdout.
 *
 * @example
 * serveMcpStdio(kernel, { caller: { caller: "desk" }, onEnd: () => void kernel.close() });
 */
export function serveMcpStdio(kernel: Kernel, { onEnd, ...options }: McpStdioOptions): McpConnection {
  return serveConnection(kernel, options, new StdioServerTransport(), onEnd);
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
export async function serveMcpHttp(kernel: Kernel, options: McpHttpOptions): Promise<McpHttpServer> {
  const { port = 0, address = "127.0.0.1", ...rest } = options;
  if (!isLoopback(address) && options.hosts === undefined)
    throw new TypeError(`Others reach ${address}. Name the hosts by which clients reach this server: \`hosts\`.`);
  const handler = mcpHandler(kernel, rest);
  const server = createServer((incoming, outgoing) => void answer(handler.fetch, incoming, outgoing, options.onError));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(port, address, resolve);
  });
  const { port: taken } = server.address() as AddressInfo;
  const host = isIP(address) === 6 ? `[${address}]` : address;
  return {
    url: `http://${host}:${taken}${options.path ?? "/mcp"}`,
    async close() {
      await handler.close();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

function isLoopback(address: string): boolean {
  return address === "localhost" || address === "::1" || (isIP(address) === 4 && address.startsWith("127."));
}

async function answer(
  fetch: (request: Request) => Promise<Response>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  onError: ((error: Error) => void) | undefined,
): Promise<void> {
  try {
    await send(await fetch(requestOf(incoming, outgoing)), outgoing);
  } catch (error) {
    onError?.(error instanceof Error ? error : new Error(String(error)));
    if (outgoing.headersSent) outgoing.destroy();
    else outgoing.writeHead(400).end();
  }
}

/** @throws TypeError for a request that has no URL */
function requestOf(incoming: IncomingMessage, outgoing: ServerResponse): Request {
  const gone = new AbortController();
  outgoing.once("close", () => gone.abort());
  const { method = "GET", rawHeaders, url = "/", headers: parsed } = incoming;
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at]!, rawHeaders[at + 1]!);
  const hasBody = method !== "GET" && method !== "HEAD";
  const body = hasBody && { body: Readable.toWeb(incoming) as ReadableStream<Uint8Array>, duplex: "half" as const };
  return new Request(`http://${parsed.host ?? "localhost"}${url}`, { method, headers, signal: gone.signal, ...body });
}

/** No faster than the client reads. */
async function send({ status, headers, body }: Response, outgoing: ServerResponse): Promise<void> {
  outgoing.writeHead(status, Object.fromEntries(headers));
  if (!body) return void outgoing.end();
  outgoing.flushHeaders();
  const stream = Readable.fromWeb(body as NodeReadableStream);
  await new Promise<void>((resolve) => {
    // The client can go at any time. Its request's signal says so to the call.
    stream.once("error", () => outgoing.destroy());
    outgoing.once("close", () => {
      stream.destroy();
      resolve();
    });
    stream.pipe(outgoing);
  });
}
