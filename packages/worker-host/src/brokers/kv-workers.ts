import { knownOptions } from "@keyhole/kernel/foreign";
import { attempt, type KvStore } from "./kv-store.ts";
import { done, fault, found } from "./store.ts";

/** The used members of a Workers KV namespace, so the package needs no types of the platform. */
export interface KvNamespaceLike {
  get(key: string, type: "arrayBuffer"): Promise<ArrayBuffer | null>;
  put(key: string, value: Uint8Array<ArrayBuffer>): Promise<void>;
  delete(key: string): Promise<void>;
  list(options: { readonly prefix: string; readonly limit: number; readonly cursor?: string }): Promise<{
    readonly keys: readonly { readonly name: string }[];
    readonly list_complete: boolean;
    readonly cursor?: string;
  }>;
}

export interface WorkersKvOptions {
  /** In front of every key, at most 200 bytes of ASCII, such as `tenant-1/`. Default: none. */
  readonly prefix?: string;
}

/**
 * Values in a Workers KV namespace. It is eventually consistent: another location can read a write
 * up to a minute later. One key takes about one write a second. `next` of a page is a cursor of the
 * platform; a forged one can give no key outside the prefix.
 */
export function workersKv(namespace: KvNamespaceLike, options: WorkersKvOptions = {}): KvStore {
  const { prefix: own = "" } = knownOptions(options, { prefix: true }, "workersKv");
  return {
    get: (key, limitBytes) =>
      attempt(async () => {
        const value = await namespace.get(own + key, "arrayBuffer");
        if (value === null) return fault("not-found");
        return value.byteLength > limitBytes ? fault("too-large") : found(new Uint8Array(value));
      }),
    put: (key, bytes) =>
      attempt(async () => {
        await namespace.put(own + key, new Uint8Array(bytes));
        return done;
      }),
    delete: (key) =>
      attempt(async () => {
        await namespace.delete(own + key);
        return done;
      }),
    list: (prefix, limit, after) =>
      attempt(async () => {
        const page = await namespace.list({
          prefix: own + prefix,
          limit,
          ...(after !== undefined && { cursor: after }),
        });
        // Again here: the cursor is the tool's word, and says where the platform continues.
        const keys = page.keys.flatMap(({ name }) => (name.startsWith(own + prefix) ? [name.slice(own.length)] : []));
        return found({ keys, ...(!page.list_complete && page.cursor !== undefined && { next: page.cursor }) });
      }),
  };
}
