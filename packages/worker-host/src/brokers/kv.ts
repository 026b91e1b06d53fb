import {
  type Broker,
  type BrokerSession,
  type BrokerReply,
  type CapabilityRequest,
  checkKey,
  checkKeyPrefix,
  type Need,
} from "@keyhole/kernel";
import { kvRead, kvWrite } from "@keyhole/kernel/families";
import { checkedBroker } from "./checked.ts";
import { refused, type Refused } from "./fault.ts";
import type { KvFault, KvStore } from "./kv-store.ts";

export { memoryKv, type MemoryKvOptions } from "./kv-memory.ts";
export type { KvFault, KvPage, KvResult, KvStore } from "./kv-store.ts";

/** Values are small things by name; what is larger is a file. */
const valueBytesCeiling = 1 << 20;
const pageKeys = 1_000;
/** A key, or a cursor of the platform, which is longer. */
const afterLength = 2_048;

/** Which capability each operation needs. */
const operations = {
  get: "kv.read",
  list: "kv.read",
  put: "kv.write",
  delete: "kv.write",
} as const satisfies Record<string, "kv.read" | "kv.write">;

type Operation = keyof typeof operations;

interface KvRequest {
  readonly operation: Operation;
  /** For `list`, the prefix. */
  readonly key: string;
  readonly body: Uint8Array;
  readonly limit: number;
  readonly after?: string;
}

/**
 * Serves `kv.read` and `kv.write` over one store. `get` answers `{ found }` with the value as body.
 * `list` answers one page `{ keys, next? }` in the order of UTF-8 bytes. `put` takes the value as
 * body, at most 1 MiB.
 */
export function kvBroker(store: KvStore): Broker {
  return checkedBroker({
    families: [kvRead, kvWrite],
    read: readRequest,
    needsOf: (request) => [needOf(request)],
    serve: (request, session) => serve[request.operation](store, request, session),
  });
}

function readRequest({
  kind,
  operation,
  arguments: args,
  body,
}: CapabilityRequest): { readonly ok: true; readonly value: KvRequest } | Refused {
  if (!isOperation(operation))
    return refused("INVALID_REQUEST", `Values have no operation ${JSON.stringify(operation.slice(0, 40))}.`);
  const wanted = operations[operation];
  if (kind !== wanted)
    return refused("INVALID_REQUEST", `The operation ${operation} belongs to ${wanted}, not to ${kind}.`);
  if (operation === "put" && !body) return refused("INVALID_REQUEST", "`put` needs the value.");
  if (operation !== "put" && body) return refused("INVALID_REQUEST", `\`${operation}\` takes no body.`);
  const lists = operation === "list";
  const key = args[lists ? "prefix" : "key"];
  if (typeof key !== "string") return refused("INVALID_REQUEST", `\`${lists ? "prefix" : "key"}\` is a string.`);
  const fault = lists ? checkKeyPrefix(key) : checkKey(key);
  if (fault) return refused("INVALID_REQUEST", `The key ${shown(key)} is refused: ${fault}.`);
  const { limit = pageKeys, after } = lists ? args : ({} as typeof args);
  if (typeof limit !== "number" || !Number.isInteger(limit) || limit < 1 || limit > pageKeys)
    return refused("INVALID_REQUEST", `\`limit\` is not an integer from 1 to ${pageKeys}.`);
  if (after !== undefined && (typeof after !== "string" || after.length > afterLength || !after.isWellFormed()))
    return refused("INVALID_REQUEST", "`after` is not the `next` of a page.");
  return {
    ok: true,
    value: { operation, key, body: body ?? new Uint8Array(), limit, ...(after !== undefined && { after }) },
  };
}

function isOperation(name: string): name is Operation {
  return Object.hasOwn(operations, name);
}

function needOf({ operation, key, body }: KvRequest): Need {
  return {
    kind: operations[operation],
    key,
    ...(operation === "list" && { lists: true }),
    ...(operation === "put" && { bytes: body.byteLength }),
  };
}

const serve = {
  async get(store, request, session) {
    const { key } = request;
    const limit = limitOf(request, session);
    const read = await store.get(key, limit);
    if (!read.ok)
      return read.fault === "not-found" ? { ok: true, value: { found: false } } : refuse(read.fault, key, limit);
    const refusal = session.refusal({ kind: "kv.read", key, bytes: read.value.byteLength });
    return refusal ? { ok: false, error: refusal } : { ok: true, value: { found: true }, body: read.value };
  },
  async put(store, request, session) {
    const { key, body } = request;
    const limit = limitOf(request, session);
    if (body.byteLength > limit) return refuse("too-large", key, limit);
    const put = await store.put(key, body);
    return put.ok ? { ok: true, value: null } : refuse(put.fault, key, limit);
  },
  async delete(store, { key }) {
    const gone = await store.delete(key);
    return gone.ok ? { ok: true, value: null } : refuse(gone.fault, key, 0);
  },
  async list(store, { key, limit, after }, session) {
    const page = await store.list(key, limit, after);
    if (!page.ok) return refuse(page.fault, key, 0);
    const { keys, next } = page.value;
    // A key of another writer can be one that a tool may not name.
    const shownKeys = keys.filter(
      (each) => checkKey(each) === undefined && session.refusal({ kind: "kv.read", key: each }) === undefined,
    );
    return { ok: true, value: { keys: shownKeys, ...(next !== undefined && { next }) } };
  },
} satisfies Record<Operation, (store: KvStore, request: KvRequest, session: BrokerSession) => Promise<BrokerReply>>;

function limitOf({ operation, key }: KvRequest, session: BrokerSession): number {
  return Math.min(session.limit({ kind: operations[operation], key }), valueBytesCeiling);
}

function refuse(fault: KvFault, key: string, limit: number): BrokerReply {
  switch (fault) {
    case "too-large":
      return refused(
        "BOUNDS_EXCEEDED",
        `The value of ${shown(key)} is larger than the ${limit} bytes that a value may have here.`,
        "Keep it as a file, or ask for a grant with a larger `valueBytes`.",
      );
    case "no-space":
      return refused("UNAVAILABLE", "The storage is full.", "Delete keys that you do not need.");
    case "not-found":
    case "broken":
      return refused("UNAVAILABLE", "The storage failed.", "Try again later.");
  }
}

function shown(key: string): string {
  return JSON.stringify(key.length > 200 ? `${key.slice(0, 200)}…` : key);
}
