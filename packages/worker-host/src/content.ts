import type { ContentStore } from "@keyhole/kernel";
import type { KvStore } from "./brokers/kv-store.ts";
import type { FileStore } from "./brokers/store.ts";

export interface ContentStoreOptions {
  /** Of one value; a larger one is not kept. Default 33,554,432. */
  readonly maxBytes?: number;
}

/**
 * A content store in a store of files: in memory, in a folder (`nodeStore`), in the origin private file system (`opfsStore`), in R2 (`r2Store`). A value lies at
 * `blake3/ab/cd…`, by the digits of its digest. Give it a store of its own, not the one that tools see.
 *
 * @example
 * const kernel = await createKernel({ content: contentStore(nodeStore("./kept")), policy });
 */
export function contentStore(files: FileStore, { maxBytes = 33_554_432 }: ContentStoreOptions = {}): ContentStore {
  return {
    async put(digest, bytes) {
      const path = pathOf(digest);
      if (bytes.length > maxBytes) throw new Error(`the content store takes values of ${maxBytes} bytes`);
      if ((await files.stat(path)).ok) return;
      const written = await files.write(path, bytes);
      if (!written.ok) throw new Error(`the content store failed: ${written.fault}`);
    },
    async get(digest) {
      const read = await files.read(pathOf(digest), maxBytes);
      if (read.ok) return read.value;
      if (read.fault === "not-found") return undefined;
      throw new Error(`the content store failed: ${read.fault}`);
    },
    async delete(digest) {
      const removed = await files.remove(pathOf(digest));
      if (!removed.ok && removed.fault !== "not-found") throw new Error(`the content store failed: ${removed.fault}`);
    },
  };
}

/**
 * A content store in a store of values by key: IndexedDB of a page (`indexedDbKv`), SQLite on Node (`nodeKv`), in memory. The key of a value is its digest. Not for
 * Workers KV, which answers with what was there a minute ago. Give it a store of its own, not the one that tools see.
 *
 * @example
 * const kernel = await createKernel({ content: keyedContentStore(indexedDbKv({ database: "kept" })), policy });
 */
export function keyedContentStore(values: KvStore, { maxBytes = 33_554_432 }: ContentStoreOptions = {}): ContentStore {
  return {
    async put(digest, bytes) {
      const key = checked(digest);
      if (bytes.length > maxBytes) throw new Error(`the content store takes values of ${maxBytes} bytes`);
      // What is there, however large, stays.
      const there = await values.get(key, 0);
      if (there.ok || there.fault === "too-large") return;
      const written = await values.put(key, bytes);
      if (!written.ok) throw new Error(`the content store failed: ${written.fault}`);
    },
    async get(digest) {
      const read = await values.get(checked(digest), maxBytes);
      if (read.ok) return read.value;
      if (read.fault === "not-found") return undefined;
      throw new Error(`the content store failed: ${read.fault}`);
    },
    async delete(digest) {
      const removed = await values.delete(checked(digest));
      if (!removed.ok) throw new Error(`the content store failed: ${removed.fault}`);
    },
  };
}

const digestPattern = /^([a-z0-9]{1,16}):([0-9a-f]{2})([0-9a-f]{62})$/;

function pathOf(digest: string): string {
  return checked(digest).replace(digestPattern, "$1/$2/$3");
}

/** @throws TypeError for what is no digest: a bug in the caller. */
function checked(digest: string): string {
  if (digestPattern.test(digest)) return digest;
  throw new TypeError(`${JSON.stringify(digest.slice(0, 100))} is no digest`);
}
