import type { CapabilityReply } from "../capability/broker.ts";
import type { JsonObject, JsonValue } from "../json/json.ts";
import type {
  CapabilityRefused,
  FileEntry,
  ToolCallAnswer,
  ToolContext,
  ToolDatabase,
  ToolFiles,
  ToolKeys,
  ToolRequestInit,
  ToolRows,
} from "../tool/define.ts";
import { placeholder, secretToken } from "../id/placeholder.ts";
import { bodyOf } from "./body.ts";
import type { GuestCall, GuestTransport } from "./call.ts";
import type { CallSources } from "./sources.ts";

type Granted = Extract<CapabilityReply, { ok: true }>;

/**
 * The tool's only view of the world: it holds the transport where no tool reaches it. What a tool does not look at is not made; each part can be taken out
 * of the context and works alone.
 *
 * A class, because an accessor in an object literal makes a hidden class of its own for every object, and that one keeps the whole call in memory until
 * the next full collection: measured at 8 KB and a tenth of the time of a call.
 */
class CallContext implements ToolContext {
  readonly callId: string;
  readonly sessionId: string;
  readonly now: () => number;
  readonly random: () => number;
  readonly #seed: string;
  readonly #transport: GuestTransport;
  #body: ToolContext["body"] | undefined;

  constructor(call: GuestCall, transport: GuestTransport, sources: CallSources) {
    this.callId = call.callId;
    this.sessionId = call.sessionId;
    this.now = sources.now;
    this.random = sources.random;
    this.#seed = call.seed;
    this.#transport = transport;
  }

  get signal(): AbortSignal {
    return this.#transport.signal;
  }

  get fetch(): ToolContext["fetch"] {
    return (url, init) => brokeredFetch(this.#ask, url, init);
  }

  get files(): ToolFiles {
    return brokeredFiles(this.#ask);
  }

  get db(): ToolContext["db"] {
    return (name) => brokeredDatabase(this.#ask, String(name));
  }

  get kv(): ToolKeys {
    return brokeredKeys(this.#ask);
  }

  get spawn(): ToolContext["spawn"] {
    return (command, args, options) => brokeredSpawn(this.#ask, command, args, options);
  }

  get tools(): ToolContext["tools"] {
    return brokeredTools(this.#ask);
  }

  get secret(): ToolContext["secret"] {
    return (name) => placeholder(secretToken(this.#seed), String(name));
  }

  get body(): ToolContext["body"] {
    return (this.#body ??= bodyOf(this.#transport));
  }

  get log(): ToolContext["log"] {
    return (message, level = "info") => this.#transport.log({ level, message: String(message) });
  }

  get progress(): ToolContext["progress"] {
    return ({ done, total, message }) =>
      this.#transport.progress({
        done,
        ...(total !== undefined && { total }),
        ...(message !== undefined && { message }),
      });
  }

  get #ask(): Ask {
    return async (asked) => {
      const reply = await this.#transport.request(asked);
      if (!reply.ok) throw refusal(reply.error);
      return reply;
    };
  }
}
Object.freeze(CallContext.prototype); // Shared by the calls of an isolate.

export function toolContext(call: GuestCall, transport: GuestTransport, sources: CallSources): ToolContext {
  return new CallContext(call, transport, sources);
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
  const body = init.body === undefined ? undefined : bytesOf(init.body);
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

function bytesOf(data: Uint8Array | string): Uint8Array {
  return typeof data === "string" ? new TextEncoder().encode(data) : data;
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
      await ask({ kind: "fs.write", operation: "write", arguments: at(path), body: bytesOf(data) });
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

function brokeredTools(ask: Ask): ToolContext["tools"] {
  return {
    async call(name, input) {
      const wanted = { name: String(name), input: (input === undefined ? {} : input) as JsonValue };
      const { value, body } = await ask({ kind: "tool.call", operation: "call", arguments: wanted });
      const answer = value as unknown as ToolCallAnswer;
      return body && answer.ok ? { ...answer, bytes: body } : answer;
    },
  };
}

function brokeredDatabase(ask: Ask, database: string): ToolDatabase {
  const statement = (sql: string, params: readonly JsonValue[] = []): JsonObject => ({
    database,
    sql: String(sql),
    params: [...params],
  });
  return {
    async query(sql, params) {
      const { value } = await ask({ kind: "db.read", operation: "query", arguments: statement(sql, params) });
      return value as unknown as ToolRows;
    },
    async run(sql, params) {
      const { value } = await ask({ kind: "db.write", operation: "run", arguments: statement(sql, params) });
      return value as unknown as Awaited<ReturnType<ToolDatabase["run"]>>;
    },
  };
}

function brokeredKeys(ask: Ask): ToolKeys {
  const at = (key: string): { key: string } => ({ key: String(key) });
  return {
    async get(key) {
      const { value, body } = await ask({ kind: "kv.read", operation: "get", arguments: at(key) });
      return (value as { readonly found: boolean }).found ? (body ?? new Uint8Array()) : undefined;
    },
    async put(key, data) {
      await ask({ kind: "kv.write", operation: "put", arguments: at(key), body: bytesOf(data) });
    },
    async delete(key) {
      await ask({ kind: "kv.write", operation: "delete", arguments: at(key) });
    },
    async list({ prefix = "", limit = 100, after } = {}) {
      const page = { prefix, limit, ...(after !== undefined && { after }) };
      const { value } = await ask({ kind: "kv.read", operation: "list", arguments: page });
      return value as unknown as Awaited<ReturnType<ToolKeys["list"]>>;
    },
  };
}

async function brokeredSpawn(
  ask: Ask,
  command: string,
  args: readonly string[] = [],
  { stdin }: { readonly stdin?: Uint8Array | string } = {},
): ReturnType<ToolContext["spawn"]> {
  const { value, body } = await ask({
    kind: "process.spawn",
    operation: "run",
    arguments: { command: String(command), args: Array.from(args, String) },
    ...(stdin !== undefined && { body: bytesOf(stdin) }),
  });
  const { exitCode, stderr } = value as { readonly exitCode: number; readonly stderr: string };
  return { exitCode, stdout: body ?? new Uint8Array(), stderr };
}
