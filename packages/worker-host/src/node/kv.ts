import { knownOptions } from "@keyhole/kernel/foreign";
import type { StatementSync } from "node:sqlite";
import { attempt, type KvFault, type KvStore, pageOf, rangeOf } from "../brokers/kv-store.ts";
import { done, fault, found } from "../brokers/store.ts";

export interface NodeKvOptions {
  /** Bytes of the whole file. Default 64 MiB. */
  readonly totalBytes?: number;
}

export interface NodeKv extends KvStore {
  /** Ends the use of the file. Later operations find it `broken`. */
  close(): void;
}

const pageBytes = 4_096;

/**
 * Values in one file of the file system, in SQLite. A change is complete on the disk before `put`
 * and `delete` resolve. A process that dies during a change leaves the value before it. Several
 * processes can share the file. Beside it lie `-wal` and `-shm` while it is in use.
 *
 * @param file made when it is missing; its folder has to exist
 * @throws when the file cannot be opened, or is something else
 */
export function nodeKv(file: string, options: NodeKvOptions = {}): NodeKv {
  const { totalBytes = 64 << 20 } = knownOptions(options, { totalBytes: 0 }, "nodeKv");
  // Not imported: a Node without it would name the module and nothing else.
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  const database = new DatabaseSync(file, { timeout: 2_000 });
  database.exec("PRAGMA journal_mode = wal; PRAGMA synchronous = full; PRAGMA trusted_schema = off");
  // The engine keeps the bound of the file, as it would meet the end of the disk.
  database.exec(`PRAGMA max_page_count = ${Math.ceil(totalBytes / pageBytes)}`);
  database.exec("CREATE TABLE IF NOT EXISTS kv (key BLOB PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID");
  const get = database.prepare("SELECT length(value) AS bytes FROM kv WHERE key = ?");
  const read = database.prepare("SELECT value FROM kv WHERE key = ?");
  const put = database.prepare("INSERT INTO kv VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value");
  const remove = database.prepare("DELETE FROM kv WHERE key = ?");
  const list = database.prepare("SELECT key FROM kv WHERE key >= ? AND key < ? AND key > ? ORDER BY key LIMIT ?");

  return {
    get: (key, limitBytes) =>
      attempt(() => {
        const size = get.get(keyBytes(key))?.["bytes"];
        if (size === undefined) return fault("not-found");
        if (Number(size) > limitBytes) return fault("too-large");
        const value = read.get(keyBytes(key))?.["value"];
        return value instanceof Uint8Array ? found(value) : fault("broken");
      }, faultOf),
    put: (key, bytes) =>
      attempt(() => {
        put.run(keyBytes(key), bytes);
        return done;
      }, faultOf),
    delete: (key) =>
      attempt(() => {
        remove.run(keyBytes(key));
        return done;
      }, faultOf),
    list: (prefix, limit, after) =>
      attempt(() => found(pageOf(keysOf(list, prefix, limit + 1, after), limit)), faultOf),
    close: () => database.close(),
  };
}

function keysOf(list: StatementSync, prefix: string, limit: number, after: string | undefined): string[] {
  const { from, to } = rangeOf(prefix);
  const rows = list.all(from, to, keyBytes(after ?? ""), limit);
  return rows.map(({ key }) => new TextDecoder().decode(key as Uint8Array));
}

function keyBytes(key: string): Uint8Array {
  return new TextEncoder().encode(key);
}

/** SQLITE_FULL: the bound of the file, or the end of the disk. */
const full = 13;

function faultOf(error: unknown): KvFault | undefined {
  return error instanceof Error && "errcode" in error && error.errcode === full ? "no-space" : undefined;
}
