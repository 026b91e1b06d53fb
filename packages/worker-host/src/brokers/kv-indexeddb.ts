import { knownOptions } from "@keyhole/kernel/foreign";
import { attempt, type KvFault, type KvStore, pageOf, rangeOf } from "./kv-store.ts";
import { done, fault, found } from "./store.ts";

export interface IndexedDbKvOptions {
  /** Name of the database. Default `keyhole-kv`. */
  readonly database?: string;
}

const values = "values";

/**
 * Values in the page's IndexedDB. Works in pages and in their workers. The browser bounds the space, and forgets it when the person clears the site's
 * data. Two tabs of one origin share it.
 */
export function indexedDbKv(options: IndexedDbKvOptions = {}): KvStore {
  const { database = "keyhole-kv" } = knownOptions(options, { database: true }, "indexedDbKv");
  let opened: Promise<IDBDatabase> | undefined;

  const open = (): Promise<IDBDatabase> => {
    if (opened) return opened;
    const forget = (): void => {
      opened = undefined;
    };
    opened = openDatabase(database, forget);
    opened.catch(forget);
    return opened;
  };

  const transact = async <Result>(
    mode: IDBTransactionMode,
    use: (store: IDBObjectStore) => IDBRequest<Result>,
  ): Promise<Result> => {
    const transaction = (await open()).transaction(values, mode, { durability: "strict" });
    const request = use(transaction.objectStore(values));
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    // The database stores only a complete transaction.
    transaction.oncomplete = () => resolve(request.result);
    transaction.onabort = () => reject(transaction.error ?? new DOMException("aborted", "AbortError"));
    return promise;
  };

  return {
    get: (key, limitBytes) =>
      attempt(async () => {
        const bytes: unknown = await transact("readonly", (store) => store.get(keyBytes(key)));
        if (bytes === undefined) return fault("not-found");
        if (!(bytes instanceof Uint8Array)) return fault("broken");
        return bytes.byteLength > limitBytes ? fault("too-large") : found(bytes);
      }, faultOf),
    put: (key, bytes) =>
      attempt(async () => {
        // A copy: for a view the database would store the whole buffer.
        const value = new Uint8Array(bytes);
        await transact("readwrite", (store) => store.put(value, keyBytes(key)));
        return done;
      }, faultOf),
    delete: (key) =>
      attempt(async () => {
        await transact("readwrite", (store) => store.delete(keyBytes(key)));
        return done;
      }, faultOf),
    list: (prefix, limit, after) =>
      attempt(async () => {
        const { from, to } = rangeOf(prefix);
        const start = after?.startsWith(prefix) ? keyBytes(after) : from;
        if (indexedDB.cmp(start, to) >= 0) return found({ keys: [] });
        const range = IDBKeyRange.bound(start, to, start !== from, true);
        const keys = await transact("readonly", (store) => store.getAllKeys(range, limit + 1));
        return found(pageOf(keys.map(textOf), limit));
      }, faultOf),
  };
}

function openDatabase(name: string, forget: () => void): Promise<IDBDatabase> {
  const { promise, resolve, reject } = Promise.withResolvers<IDBDatabase>();
  const request = indexedDB.open(name, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(values);
  request.onblocked = () => reject(new DOMException("another version is open", "AbortError"));
  request.onerror = () => reject(request.error ?? new DOMException("no reason", "UnknownError"));
  request.onsuccess = () => {
    const database = request.result;
    database.onversionchange = () => {
      database.close();
      forget();
    };
    database.onclose = forget;
    resolve(database);
  };
  return promise;
}

/** As bytes, keys have the same order as in every other store; as strings they would be ordered by UTF-16 units. */
function keyBytes(key: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new TextEncoder().encode(key));
}

function textOf(key: IDBValidKey): string {
  return new TextDecoder().decode(key as ArrayBuffer);
}

function faultOf(error: unknown): KvFault | undefined {
  return error instanceof DOMException && error.name === "QuotaExceededError" ? "no-space" : undefined;
}
