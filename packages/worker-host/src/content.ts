import { knownOptions } from "@keyhole/kernel/foreign";
import type { ContentStore } from "@keyhole/kernel";
import type { KvStore } from "./brokers/kv-store.ts";
import type { FileStore, StoreResult } from "./brokers/store.ts";

export interface ContentStoreOptions {
  /** Of one value; the store keeps no larger one. Default 33,554,432. */
  readonly maxBytes?: number;
}

const MOST_BYTES = 33_554_432;

/**
 * A content store in a store of files: in memory, in a folder (`nodeStore`), in the origin private file system (`opfsStore`), in R2 (`r2Store`). A value lies at
 * `blake3/ab/cd…`, by the digits of its digest. Give it a store of its own, not the one that tools see.
 *
 * @example
 * const kernel = await createKernel({ content: contentStore(nodeStore("./kept")), policy });
 */
export function contentStore(files: FileStore, options: ContentStoreOptions = {}): ContentStore {
  const { maxBytes = MOST_BYTES } = knownOptions(options, { maxBytes: 1 }, "contentStore");
  return storeOver({
    maxBytes,
    has: async (digest) => (await files.stat(pathOf(digest))).ok,
    write: (digest, bytes) => files.write(pathOf(digest), bytes),
    read: (digest) => files.read(pathOf(digest), maxBytes),
    remove: (digest) => files.remove(pathOf(digest)),
  });
}

/**
 * A content store in a store of values by key: IndexedDB of a page (`indexedDbKv`), SQLite on Node (`nodeKv`), in memory. The key of a value is its digest. Not for
 * Workers KV, which answers with what was there a minute ago. Give it a store of its own, not the one that tools see.
 *
 * @example
 * const kernel = await createKernel({ content: keyedContentStore(indexedDbKv({ database: "kept" })), policy });
 */
export function keyedContentStore(values: KvStore, options: ContentStoreOptions = {}): ContentStore {
  const { maxBytes = MOST_BYTES } = knownOptions(options, { maxBytes: 1 }, "keyedContentStore");
  return storeOver({
    maxBytes,
    has: async (digest) => {
      const there = await values.get(digest, 0);
      return there.ok || there.fault === "too-large";
    },
    write: (digest, bytes) => values.put(digest, bytes),
    read: (digest) => values.get(digest, maxBytes),
    remove: (digest) => values.delete(digest),
  });
}

/** The operations of both kinds of stores. Their digests are checked already. */
interface Values {
  readonly maxBytes: number;
  has(digest: string): Promise<boolean>;
  write(digest: string, bytes: Uint8Array): Promise<StoreResult<unknown>>;
  read(digest: string): Promise<StoreResult<Uint8Array>>;
  remove(digest: string): Promise<StoreResult<unknown>>;
}

function storeOver(values: Values): ContentStore {
  const { maxBytes } = values;
  const failed = (fault: string): Error => new Error(`the content store failed: ${fault}`);
  return {
    maxBytes,
    async put(foreign, bytes) {
      const digest = checked(foreign);
      if (bytes.length > maxBytes) throw new Error(`the content store takes values of ${maxBytes} bytes`);
      // Existing content stays, of any size.
      if (await values.has(digest)) return;
      const written = await values.write(digest, bytes);
      if (!written.ok) throw failed(written.fault);
    },
    async get(digest) {
      const read = await values.read(checked(digest));
      if (read.ok) return read.value;
      if (read.fault === "not-found") return undefined;
      throw failed(read.fault);
    },
    async delete(digest) {
      const removed = await values.remove(checked(digest));
      if (!removed.ok && removed.fault !== "not-found") throw failed(removed.fault);
    },
  };
}

const digestPattern = /^([a-z0-9]{1,16}):([0-9a-f]{2})([0-9a-f]{62})$/;

function pathOf(digest: string): string {
  return digest.replace(digestPattern, "$1/$2/$3");
}

/** @throws TypeError for what is no digest: a bug in the caller. */
function checked(digest: string): string {
  if (digestPattern.test(digest)) return digest;
  throw new TypeError(`${JSON.stringify(digest.slice(0, 100))} is not a digest`);
}
