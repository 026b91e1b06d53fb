import {
  type Broker,
  type BrokerSession,
  type BrokerReply,
  type CapabilityRequest,
  checkPath,
  type Need,
} from "@keyhole/kernel";
import { fsRead, fsWrite } from "@keyhole/kernel/families";
import { checkedBroker } from "./checked.ts";
import { cancelled, refused, type Refused } from "./fault.ts";
import type { FileStore, StoreEntry, StoreFault, StoreResult } from "./store.ts";

export { memoryStore, type MemoryStoreOptions } from "./memory-store.ts";
export type { FileStore, StoreFault, StoreResult } from "./store.ts";

/** A file crosses to the tool in one message, and no host carries larger ones. */
const fileBytesCeiling = 16 << 20;

/** Which capability each operation needs, and whether it can be asked of the root. */
const operations = {
  read: { kind: "fs.read", root: false },
  list: { kind: "fs.read", root: true },
  stat: { kind: "fs.read", root: true },
  write: { kind: "fs.write", root: false },
  remove: { kind: "fs.write", root: false },
} as const satisfies Record<string, { readonly kind: "fs.read" | "fs.write"; readonly root: boolean }>;

type Operation = keyof typeof operations;

interface FileRequest {
  readonly operation: Operation;
  readonly path: string;
  readonly body: Uint8Array;
}

/**
 * Serves `fs.read` and `fs.write` over one store. `read` answers with the file as body, `stat` with one entry. `list` answers with a
 * folder as `ToolFiles.list` does. `write` takes the file as body.
 */
export function filesBroker(store: FileStore): Broker {
  const changes = new Turns();
  return checkedBroker({
    families: [fsRead, fsWrite],
    read: readRequest,
    needsOf: (request) => [needOf(request)],
    serve: (request, session) => serve[request.operation]({ store, changes, session, ...request }),
  });
}

function readRequest({
  kind,
  operation,
  arguments: { path },
  body,
}: CapabilityRequest): { readonly ok: true; readonly value: FileRequest } | Refused {
  if (!isOperation(operation))
    return refused("INVALID_REQUEST", `Files have no operation ${JSON.stringify(operation.slice(0, 40))}.`);
  const wanted = operations[operation];
  if (kind !== wanted.kind)
    return refused("INVALID_REQUEST", `The operation ${operation} belongs to ${wanted.kind}, not to ${kind}.`);
  if (typeof path !== "string") return refused("INVALID_REQUEST", "`path` is not a string.");
  if (path === "" && !wanted.root)
    return refused("INVALID_REQUEST", `The operation ${operation} needs the path of a file.`);
  const fault = path === "" ? undefined : checkPath(path);
  if (fault)
    return refused(
      "INVALID_REQUEST",
      `The path ${shown(path)} is refused: ${fault}.`,
      "Write it as `folder/file.txt`.",
    );
  if (operation === "write" && !body) return refused("INVALID_REQUEST", "`write` needs the content of the file.");
  return { ok: true, value: { operation, path, body: body ?? new Uint8Array() } };
}

function isOperation(name: string): name is Operation {
  return Object.hasOwn(operations, name);
}

function needOf({ operation, path, body }: FileRequest): Need {
  if (operation === "write") return { kind: "fs.write", path, bytes: body.byteLength };
  if (operation === "remove") return { kind: "fs.write", path, removes: true };
  return { kind: operations[operation].kind, path };
}

interface Service extends FileRequest {
  readonly store: FileStore;
  readonly changes: Turns;
  readonly session: BrokerSession;
}

const serve = {
  async read({ store, session, path }) {
    const limit = Math.min(session.limit({ kind: "fs.read", path }), fileBytesCeiling);
    const read = await store.read(path, limit);
    if (!read.ok) return read.fault === "too-large" ? tooLarge(path, limit) : refuse(read.fault, path);
    const refusal = session.refusal({ kind: "fs.read", path, bytes: read.value.byteLength });
    return refusal ? { ok: false, error: refusal } : { ok: true, value: null, body: read.value };
  },
  async write({ store, changes, session, path, body }) {
    const limit = Math.min(session.limit({ kind: "fs.write", path }), fileBytesCeiling);
    if (body.byteLength > limit) return tooLarge(path, limit);
    return changed(await changes.take(() => store.write(path, body), session.signal), path);
  },
  async remove({ store, changes, session, path }) {
    return changed(await changes.take(() => store.remove(path), session.signal), path);
  },
  async list({ store, session, path }) {
    const listed = await store.list(path);
    if (!listed.ok) return refuse(listed.fault, path);
    const below = ({ name }: StoreEntry): string => (path === "" ? name : `${path}/${name}`);
    // Another writer's name can be one that no tool may use.
    const named = listed.value.filter((entry) => entry.kind !== "other" && checkPath(below(entry)) === undefined);
    // An entry is read with its name and size.
    const entries = named
      .filter((entry) => !session.refusal({ kind: "fs.read", path: below(entry) }))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      .map((entry) => ({ ...entry }));
    return { ok: true, value: { entries, leftOut: listed.value.length - named.length } };
  },
  async stat({ store, path }) {
    const found = await store.stat(path);
    return found.ok ? { ok: true, value: { ...found.value } } : refuse(found.fault, path);
  },
} satisfies Record<Operation, (service: Service) => Promise<BrokerReply>>;

/** One change after the other, so that a folder is not taken away while a file is put into it. */
class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** `undefined` when the call ended while it waited. */
  take<Value>(change: () => Promise<Value>, signal: AbortSignal): Promise<Value | undefined> {
    const turn = this.#last.then(() => (signal.aborted ? undefined : change()));
    this.#last = turn.catch(() => {});
    return turn;
  }
}

/** `undefined`: its turn never came. */
function changed(result: StoreResult<undefined> | undefined, path: string): BrokerReply {
  if (result === undefined) return cancelled;
  return result.ok ? { ok: true, value: null } : refuse(result.fault, path);
}

const faults = {
  "not-found": { code: "NOT_FOUND", says: "does not exist", hint: "List the folder to see its files." },
  "is-folder": { code: "NOT_FOUND", says: "is a folder", hint: "Name a file in it." },
  "is-file": { code: "NOT_FOUND", says: "is a file, or is below one", hint: "A file has nothing below it." },
  "too-large": { code: "BOUNDS_EXCEEDED", says: "is too large", hint: "" },
  "too-many": { code: "BOUNDS_EXCEEDED", says: "has too many entries", hint: "Name a folder further down." },
  "no-space": {
    code: "UNAVAILABLE",
    says: "does not fit: the storage is full",
    hint: "Remove data that you do not need.",
  },
  "not-plain": {
    code: "CAPABILITY_DENIED",
    says: "is a link, a device, or another spelling of an existing name",
    hint: "Use the name as the folder lists it.",
  },
  broken: { code: "UNAVAILABLE", says: "cannot be used: the storage failed", hint: "Try again later." },
} as const satisfies Record<
  StoreFault,
  { readonly code: Refused["error"]["code"]; readonly says: string; readonly hint: string }
>;

function refuse(fault: StoreFault, path: string): BrokerReply {
  const { code, says, hint } = faults[fault];
  return refused(code, `${path === "" ? "The root folder" : shown(path)} ${says}.`, hint);
}

function tooLarge(path: string, limit: number): BrokerReply {
  return refused(
    "BOUNDS_EXCEEDED",
    `${shown(path)} is larger than the ${limit} bytes that a file may have here.`,
    "Work on a smaller file, or ask for a grant with a larger `fileBytes`.",
  );
}

function shown(path: string): string {
  return JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}…` : path);
}
