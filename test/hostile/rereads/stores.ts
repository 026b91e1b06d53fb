import type { Broker, CapabilityRequest } from "@keyhole/kernel";
import { dbBroker, type SqlDatabase } from "@keyhole/worker-host/brokers/db";
import { filesBroker, type FileStore, memoryStore } from "@keyhole/worker-host/brokers/files";
import { kvBroker, type KvStore, memoryKv } from "@keyhole/worker-host/brokers/kv";
import { openSession } from "../../brokers/session.ts";
import { comparable, type Seam } from "./seam.ts";

/** What a broker makes of what its store answers. */
async function served(broker: Broker, request: CapabilityRequest): Promise<unknown> {
  return comparable(await broker.serve(request, openSession({ limit: 10 })));
}

const files = (more: Partial<FileStore>): Broker => filesBroker({ ...memoryStore(), ...more });
const kv = (more: Partial<KvStore>): Broker => kvBroker({ ...memoryKv(), ...more });
const db = (more: Partial<SqlDatabase>): Broker => dbBroker({ main: more as SqlDatabase });

const entry = (name: string) => ({ name, kind: "file", byteLength: name.length });
const text = (from: string): Uint8Array => new TextEncoder().encode(from);
const asked = (kind: CapabilityRequest["kind"], operation: string, more: object): CapabilityRequest => ({ kind, operation, arguments: { ...more } }); // prettier-ignore

export const seams: readonly Seam[] = [
  {
    name: "a file of a store",
    first: { ok: true, value: text("first"), fault: "not-found" },
    second: { ok: false, value: text("second, and much longer"), fault: "broken" },
    run: (answer) => served(files({ read: async () => answer }), asked("fs.read", "read", { path: "a" })),
  },
  {
    name: "why a store has no file",
    first: { ok: false, fault: "not-found", value: text("first") },
    second: { ok: true, fault: "too-large", value: text("second") },
    run: (answer) => served(files({ read: async () => answer }), asked("fs.read", "read", { path: "a" })),
  },
  {
    name: "the files of a folder",
    first: { ok: true, value: [entry("b"), entry("a")] },
    second: { ok: true, value: [entry("z"), entry("y")] },
    run: (answer) => served(files({ list: async () => answer }), asked("fs.read", "list", { path: "" })),
  },
  {
    name: "a value of a store",
    first: { ok: true, value: text("first") },
    second: { ok: false, value: text("second, and much longer"), fault: "broken" },
    run: (answer) => served(kv({ get: async () => answer }), asked("kv.read", "get", { key: "a" })),
  },
  {
    name: "the keys of a store",
    first: { ok: true, value: { keys: ["a", "b"], next: "b" } },
    second: { ok: true, value: { keys: ["\u0000", "c"], next: "c" } },
    run: (answer) => served(kv({ list: async () => answer }), asked("kv.read", "list", { prefix: "" })),
  },
  {
    name: "the rows of a database",
    first: { ok: true, value: { columns: ["a"], rows: [[1], ["x"]] } },
    second: { ok: true, value: { columns: ["b"], rows: [[2], ["y"]] } },
    run: (answer) =>
      served(db({ query: async () => answer }), asked("db.read", "query", { database: "main", sql: "SELECT 1" })),
  },
  {
    name: "why a database has no rows",
    first: { ok: false, fault: { reason: "rejected", message: "first" } },
    second: { ok: false, fault: { reason: "denied", message: "second" } },
    run: (answer) =>
      served(db({ query: async () => answer }), asked("db.read", "query", { database: "main", sql: "SELECT 1" })),
  },
];
