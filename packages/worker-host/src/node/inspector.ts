import { knownOptions } from "@keyhole/kernel/foreign";
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Kernel } from "@keyhole/kernel";
import { type InspectedParts, InspectorAnswers } from "../inspector/answers.ts";
import { linkOf, originOf } from "../inspector/page.ts";

export interface InspectorOptions extends InspectedParts {
  /** Origins of the pages that may read: `["http://127.0.0.1:8700"]`. A page of another origin reads nothing. */
  readonly origins: readonly string[];
  /** Default: one that is free. */
  readonly port?: number;
}

export interface Inspector {
  /** `http://127.0.0.1:PORT` */
  readonly address: string;
  readonly token: string;
  /** The page of the first origin, set up for this kernel. It holds the token. */
  readonly link: string;
  close(): Promise<void>;
}

/** Of connections at once: a page needs three. */
const mostConnections = 16;
/** The server cuts off a reader that takes nothing for so long. An answer waits at most half of that for an event. */
const silenceMs = 30_000;
const mostOfBody = 4_000;
/** A client that sends slowly holds one of the connections. */
const bodyMs = 10_000;

/**
 * Lets the playground watch a kernel of this program, on 127.0.0.1 alone: its tools, its policy and every call. It reads with a new token, and changes
 * nothing unless `mayChangeMode` says so. The program can end while a page watches.
 *
 * @throws Error where no origin is given, or one that is none
 * @example
 * const { link } = await exposeInspector(kernel, { origins: ["http://127.0.0.1:8700"], policy: () => policy });
 * console.log(`Watch this kernel: ${link}`);
 */
export async function exposeInspector(kernel: Kernel, given: InspectorOptions): Promise<Inspector> {
  const options = knownOptions(given, { origins: true, port: 0, policy: true, mayChangeMode: true }, "exposeInspector");
  const origins = options.origins.map((each) => originOf(each, "http://127.0.0.1:8700"));
  const [first] = origins;
  if (first === undefined) throw new Error("`origins` is empty. Name the origin of the page that may read.");
  const token = randomBytes(32).toString("base64url");
  const answers = new InspectorAnswers(kernel, options);
  const server = createServer((request, response) => {
    void respond(request, response, { answers, origins, token });
  });
  server.maxConnections = mostConnections;
  server.headersTimeout = 5_000;
  server.setTimeout(silenceMs, (socket) => socket.destroy());
  await listening(server, options.port ?? 0);
  server.unref();
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    address,
    token,
    link: linkOf(first, address, token),
    close: () =>
      new Promise((resolve) => {
        answers.close();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listening(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => resolve());
  });
}

interface Reading {
  readonly answers: InspectorAnswers;
  readonly origins: readonly string[];
  readonly token: string;
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  { answers, origins, token }: Reading,
): Promise<void> {
  const { origin, host = "" } = request.headers;
  // A page that led a name of its own to this machine sends that name.
  if (!/^(?:127\.0\.0\.1|localhost)(?::\d+)?$/.test(host)) return end(response, 403, refused("Host"));
  if (origin !== undefined && !origins.includes(origin)) return end(response, 403, refused("Origin"));
  if (origin !== undefined) allow(response, origin);
  if (request.method === "OPTIONS") return end(response, 204, undefined);
  if (!isSame(request.headers.authorization ?? "", `Bearer ${token}`))
    return end(response, 401, { code: "UNAUTHENTICATED", detail: "The token is missing or wrong." });
  try {
    const path = request.url ?? "/";
    const { status, body } = await (request.method === "GET"
      ? answers.answer(path)
      : answers.change(request.method === "PUT" ? path : "", await textOf(request)));
    end(response, status, body);
  } catch {
    end(response, 503, { code: "AUDIT_UNAVAILABLE", detail: "The log of the kernel is unreadable." });
  }
}

/** Of a request that changes something; empty where there is more. */
async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let byteLength = 0;
  const late = setTimeout(() => request.destroy(), bodyMs);
  try {
    for await (const part of request as AsyncIterable<Buffer>) {
      byteLength += part.length;
      if (byteLength <= mostOfBody) parts.push(part);
    }
  } finally {
    clearTimeout(late);
  }
  return byteLength <= mostOfBody ? Buffer.concat(parts).toString("utf8") : "";
}

function allow(response: ServerResponse, origin: string): void {
  response.setHeader("access-control-allow-origin", origin);
  response.setHeader("access-control-allow-methods", "GET, PUT");
  response.setHeader("access-control-allow-headers", "authorization, content-type");
  response.setHeader("access-control-allow-private-network", "true");
  response.setHeader("vary", "origin");
}

function refused(header: string): { readonly code: string; readonly detail: string } {
  return { code: "FORBIDDEN", detail: `The ${header} of the request may not read.` };
}

function end(response: ServerResponse, status: number, body: unknown): void {
  const headers = {
    "content-type": "application/json",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  };
  response.writeHead(status, headers).end(body === undefined ? "" : JSON.stringify(body));
}

/** By digests: the time says nothing about where they differ. */
function isSame(got: string, expected: string): boolean {
  const [a, b] = [got, expected].map((text) => createHash("sha256").update(text).digest());
  return timingSafeEqual(a!, b!);
}
