import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, isIP } from "node:net";
import { Readable } from "node:stream";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";

export interface Listening {
  readonly origin: string;
  close(): Promise<void>;
}

/** A client that reads nothing for so long is gone: its answers stay in memory. */
const UNREAD_MS = 30_000;

interface Place {
  readonly port: number;
  readonly address: string;
  /** Default 30,000. */
  readonly unreadMs?: number;
}

/** Serves a function from `Request` to `Response`. @throws the fault of the system where it cannot listen */
export async function listen(
  fetch: (request: Request) => Promise<Response>,
  { port, address, unreadMs = UNREAD_MS }: Place,
  onError?: (error: Error) => void,
): Promise<Listening> {
  const server = createServer((incoming, outgoing) => {
    // Node counts what the client takes as activity. A stream without news waits for nobody.
    outgoing.setTimeout(unreadMs, () => outgoing.writableLength > 0 && outgoing.destroy());
    void answer(fetch, incoming, outgoing, onError);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(port, address, resolve);
  });
  const { port: taken } = server.address() as AddressInfo;
  const host = isIP(address) === 6 ? `[${address}]` : address;
  return {
    origin: `http://${host}:${taken}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export function isLoopback(address: string): boolean {
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
  const { method = "GET", rawHeaders, url = "/", headers: parsed } = incoming;
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at]!, rawHeaders[at + 1]!);
  const hasBody = method !== "GET" && method !== "HEAD";
  const body = hasBody && { body: Readable.toWeb(incoming) as ReadableStream<Uint8Array>, duplex: "half" as const };
  const address = `http://${parsed.host ?? "localhost"}${url}`;
  const request = new Request(address, { method, headers, signal: gone.signal, ...body });
  // It holds the request until then. Without one that holds it, Node takes it away, and its signal never aborts.
  outgoing.once("close", () => request.signal.aborted || gone.abort());
  return request;
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
