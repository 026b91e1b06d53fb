import {
  type ClientRequest,
  type IncomingMessage,
  request as sendRequest,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import { type Duplex, pipeline, Transform } from "node:stream";
import { createBrotliDecompress, createInflate, createUnzip } from "node:zlib";
import type { BrokerError, Need } from "@keyhole/kernel";
import { AddressRefused, type Dial } from "./dial.ts";
import type { PageRequest, PageRules } from "./rules.ts";

export interface ForwardPort {
  readonly rules: PageRules;
  readonly dial: Dial;
  /** The end of the visit destroys every open stream. */
  readonly keep: (stream: Duplex) => void;
}

type Pairs = readonly (readonly [name: string, value: string])[];

/**
 * Headers between two neighbours only (RFC 9110, 7.6.1). The proxy chooses encodings and extensions
 * itself, so it counts exactly the page's bytes.
 */
const ofConnection =
  /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|accept-encoding|sec-websocket-extensions|alt-svc|http2-settings)$/i;

/** Sends one request on where the rules admit it, and refuses it with 403 where not. */
export async function forward(
  port: ForwardPort,
  incoming: IncomingMessage,
  response: ServerResponse,
  address: string,
): Promise<void> {
  const { rules } = port;
  const asked: PageRequest = { method: incoming.method ?? "", url: address, headers: incoming.headers };
  incoming.on("error", () => {});
  response.on("error", () => {});
  const admitted = rules.admit(asked);
  if (!admitted.ok) {
    refuse(response, 403);
    return;
  }
  const { need } = admitted;
  const fail = (error: unknown): void => {
    noteFailure(rules, asked, admitted.url, error);
    if (response.headersSent) response.destroy();
    else refuse(response, 502);
  };
  try {
    const outgoing = await requestOver(port, admitted.url, asked.method, [
      ...pairsOf(incoming.rawHeaders),
      ["accept-encoding", "gzip, deflate, br"],
      ["connection", "close"],
    ]);
    outgoing.on("error", fail);
    response.on("close", () => outgoing.destroy());
    outgoing.on("response", (answer) => {
      const fault = takeAnswer(rules, asked, need, answer, response);
      if (fault === undefined) return;
      fail(new Error(fault));
      outgoing.destroy();
    });
    outgoing.on("upgrade", (_, upstream) => {
      fail(new Error("it leaves HTTP"));
      upstream.destroy();
    });
    pipeline(incoming, counter(rules, need), outgoing, () => {});
  } catch (error) {
    fail(error);
  }
}

/** Passes an answer on. A text says why not: nothing was written then. */
function takeAnswer(
  rules: PageRules,
  asked: PageRequest,
  need: Need,
  answer: IncomingMessage,
  response: ServerResponse,
): string | undefined {
  const status = answer.statusCode ?? 0;
  if (status < 200 || status > 599) return "its status is not a status of HTTP";
  // A proxy that asks for credentials is not ours.
  if (status === 407) return "it asks as a proxy";
  const decoder = decoderOf(answer.headers["content-encoding"]);
  if (decoder === "unknown") return "it has an unknown encoding";
  const kept = pairsOf(answer.rawHeaders).filter(([name]) => !decoder || !/^content-(?:encoding|length)$/i.test(name));
  if (!rules.spend(bytesOf(kept), need)) return undefined;
  rules.answered(asked, status);
  response.writeHead(status, kept.flat());
  const counted = counter(rules, need);
  if (decoder) pipeline(answer, decoder, counted, response, () => {});
  else pipeline(answer, counted, response, () => {});
  return undefined;
}

/** The same for the opening of a WebSocket; then counts what goes through it in both directions. */
export async function forwardSocket(
  port: ForwardPort,
  incoming: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  address: string,
): Promise<void> {
  const { rules } = port;
  const asked: PageRequest = { method: "WEBSOCKET", url: address, headers: incoming.headers };
  const isWebSocket = incoming.method === "GET" && incoming.headers.upgrade?.toLowerCase() === "websocket";
  const admitted = isWebSocket ? rules.admit(asked) : undefined;
  if (!admitted?.ok) {
    socket.end(statusLine(403, "content-length: 0\r\nconnection: close\r\n"));
    return;
  }
  const { need } = admitted;
  try {
    const outgoing = await requestOver(port, admitted.url, "GET", [
      ...pairsOf(incoming.rawHeaders),
      ["connection", "Upgrade"],
      ["upgrade", "websocket"],
    ]);
    outgoing.on("error", () => socket.destroy());
    outgoing.on("response", (answer) => {
      socket.end(statusLine(answer.statusCode ?? 502, "content-length: 0\r\nconnection: close\r\n"));
      outgoing.destroy();
    });
    outgoing.on("upgrade", (answer, upstream, first) => {
      const headers = pairsOf(answer.rawHeaders).map(([name, value]) => `${name}: ${value}\r\n`);
      if (!rules.spend(headers.join("").length + first.byteLength + head.byteLength, need)) return;
      socket.write(statusLine(101, `connection: Upgrade\r\nupgrade: websocket\r\n${headers.join("")}`));
      socket.write(first);
      upstream.write(head);
      pipeline(socket, counter(rules, need), upstream, () => {});
      pipeline(upstream, counter(rules, need), socket, () => {});
    });
    outgoing.end();
  } catch (error) {
    noteFailure(rules, asked, admitted.url, error);
    socket.end(statusLine(502, "content-length: 0\r\nconnection: close\r\n"));
  }
}

async function requestOver(
  { dial, keep }: ForwardPort,
  url: URL,
  method: string,
  headers: Pairs,
): Promise<ClientRequest> {
  const stream = await dial(url);
  keep(stream);
  const others = headers.filter(([name]) => name.toLowerCase() !== "host");
  return sendRequest({
    createConnection: () => stream,
    method,
    path: `${url.pathname}${url.search}`,
    headers: ["host", url.host, ...others.flat()],
    setHost: false,
    maxHeaderSize: 65_536,
  });
}

function noteFailure(rules: PageRules, asked: PageRequest, { host }: URL, error: unknown): void {
  const cause = error instanceof Error && "code" in error ? String(error.code) : "it gives no answer";
  if (error instanceof AddressRefused) rules.refuseLate(asked, `${error.message}.`);
  const refusal: BrokerError =
    error instanceof AddressRefused
      ? { code: "CAPABILITY_DENIED", message: `${error.message}.`, hint: "Open a page of a public host." }
      : {
          code: "UNAVAILABLE",
          message: `${host} cannot be reached: ${cause}.`,
          hint: "Check the address, and try again later.",
        };
  rules.answered(asked, refusal);
}

/** Without what is between two neighbours. */
function pairsOf(raw: readonly string[]): [name: string, value: string][] {
  const pairs: [string, string][] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [name = "", value = ""] = raw.slice(at, at + 2);
    if (!ofConnection.test(name)) pairs.push([name, value]);
  }
  return pairs;
}

function bytesOf(pairs: Pairs): number {
  return pairs.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
}

function decoderOf(encoding: string | undefined): Transform | "unknown" | undefined {
  switch (encoding?.trim().toLowerCase()) {
    case undefined:
    case "":
    case "identity":
      return undefined;
    case "gzip":
    case "x-gzip":
      return createUnzip();
    case "deflate":
      return createInflate();
    case "br":
      return createBrotliDecompress();
    default:
      return "unknown";
  }
}

function counter(rules: PageRules, need: Need): Transform {
  return new Transform({
    transform(chunk: Buffer, _, done) {
      if (rules.spend(chunk.byteLength, need)) done(null, chunk);
      else done(new Error("the budget is spent"));
    },
  });
}

function refuse(response: ServerResponse, status: 403 | 502): void {
  response
    .writeHead(status, { "content-type": "text/plain", connection: "close" })
    .end(status === 403 ? "Refused." : "Unreachable.");
}

function statusLine(status: number, headers: string): string {
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "Answer"}\r\n${headers}\r\n`;
}
