import type { CapabilityReply } from "../../capability/broker.ts";
import type { CapabilityRefused, FileEntry, ToolContext, ToolFiles, ToolRequestInit } from "../../tool/define.ts";
import type { GuestCall, GuestTransport } from "./call.ts";
import type { CallSources } from "./sources.ts";

type Granted = Extract<CapabilityReply, { ok: true }>;

/** The tool's only view of the world. It holds closures over the transport, never the transport itself. */
export function toolContext(call: GuestCall, transport: GuestTransport, sources: CallSources): ToolContext {
  const request = async (asked: Parameters<GuestTransport["request"]>[0]): Promise<Granted> => {
    const reply = await transport.request(asked);
    if (!reply.ok) throw refusal(reply.error);
    return reply;
  };
  return {
    callId: call.callId,
    sessionId: call.sessionId,
    get signal() {
      return transport.signal;
    },
    fetch: (url, init) => brokeredFetch(request, url, init),
    files: brokeredFiles(request),
    now: sources.now,
    random: sources.random,
    log: (message, level = "info") => transport.log({ level, message: String(message) }),
    progress: ({ done, total, message }) =>
      transport.progress({ done, ...(total !== undefined && { total }), ...(message !== undefined && { message }) }),
  };
}

type Ask = (asked: Parameters<GuestTransport["request"]>[0]) => Promise<Granted>;

function refusal(error: Extract<CapabilityReply, { ok: false }>["error"]): CapabilityRefused {
  const thrown = new Error(error.message);
  thrown.name = "CapabilityRefused";
  return Object.assign(thrown, { code: error.code, hint: error.hint });
}

/** Methods that read: everything else is asked for as `net.write`. */
const reading = new Set(["GET", "HEAD"]);

async function brokeredFetch(ask: Ask, url: string | URL, init: ToolRequestInit = {}): Promise<Response> {
  const method = (init.method ?? "GET").toUpperCase();
  const headers = headerPairs(init.headers ?? []);
  const body = typeof init.body === "string" ? new TextEncoder().encode(init.body) : init.body;
  if (typeof init.body === "string" && !headers.some(([name]) => name.toLowerCase() === "content-type")) {
    headers.push(["content-type", "text/plain;charset=UTF-8"]); // As `fetch` says for text (Fetch, "extract a body").
  }
  const { value, body: received } = await ask({
    kind: reading.has(method) ? "net.read" : "net.write",
    operation: "fetch",
    arguments: { url: String(url), method, headers },
    ...(body !== undefined && { body }),
  });
  return responseOf(value as unknown as FetchReply, received);
}

function headerPairs(headers: NonNullable<ToolRequestInit["headers"]>): [string, string][] {
  const pairs = Array.isArray(headers) ? (headers as readonly (readonly [string, string])[]) : Object.entries(headers);
  return pairs.map(([name, value]) => [String(name), String(value)]);
}

/** What the network broker answers to `fetch`. */
interface FetchReply {
  readonly url: string;
  readonly status: number;
  readonly statusText?: string;
  readonly redirected?: boolean;
  readonly headers: readonly (readonly [string, string])[];
}

/** Statuses whose responses have no body; the constructor refuses one (Fetch, "null body status"). */
const bodiless = new Set([101, 204, 205, 304]);

// Taken before the realm is sealed.
const PlatformResponse = Response;

function responseOf(reply: FetchReply, body: Uint8Array | undefined): Response {
  const { status, statusText = "", headers, url, redirected = false } = reply;
  const bytes = bodiless.has(status) ? null : ((body ?? null) as Uint8Array<ArrayBuffer> | null);
  const response = new PlatformResponse(bytes, {
    status,
    statusText,
    headers: headers.map(([name, value]) => [name, value]),
  });
  // A constructed response has no address of its own.
  Object.defineProperty(response, "url", { value: url, enumerable: true });
  Object.defineProperty(response, "redirected", { value: redirected, enumerable: true });
  return response;
}

function brokeredFiles(ask: Ask): ToolFiles {
  const at = (path: string): { path: string } => ({ path: String(path) });
  return {
    async read(path) {
      const { body } = await ask({ kind: "fs.read", operation: "read", arguments: at(path) });
      return body ?? new Uint8Array();
    },
    async write(path, data) {
      const body = typeof data === "string" ? new TextEncoder().encode(data) : data;
      await ask({ kind: "fs.write", operation: "write", arguments: at(path), body });
    },
    async list(path) {
      const { value } = await ask({ kind: "fs.read", operation: "list", arguments: at(path) });
      return value as unknown as readonly FileEntry[];
    },
    async stat(path) {
      const { value } = await ask({ kind: "fs.read", operation: "stat", arguments: at(path) });
      return value as unknown as FileEntry;
    },
    async remove(path) {
      await ask({ kind: "fs.write", operation: "remove", arguments: at(path) });
    },
  };
}
