import { knownOptions } from "@keyhole/kernel/foreign";
import { type KvStore, pageOf } from "./kv-store.ts";
import { done, fault, found } from "./store.ts";

export interface MemoryKvOptions {
  /** Bytes of all values together. Default 16 MiB. */
  readonly totalBytes?: number;
  /** Default 10,000. */
  readonly keyCount?: number;
}

/** Values that live as long as the store: for tests, and for hosts without storage. */
export function memoryKv(options: MemoryKvOptions = {}): KvStore {
  const { totalBytes = 16 << 20, keyCount = 10_000 } = knownOptions(
    options,
    { totalBytes: 0, keyCount: 0 },
    "memoryKv",
  );
  const values = new Map<string, Uint8Array>();
  let usedBytes = 0;
  return {
    async get(key, limitBytes) {
      const bytes = values.get(key);
      if (!bytes) return fault("not-found");
      return bytes.byteLength > limitBytes ? fault("too-large") : found(bytes.slice());
    },
    async put(key, bytes) {
      const before = values.get(key);
      const after = usedBytes - (before?.byteLength ?? 0) + bytes.byteLength;
      if (after > totalBytes || (!before && values.size >= keyCount)) return fault("no-space");
      values.set(key, bytes.slice());
      usedBytes = after;
      return done;
    },
    async delete(key) {
      usedBytes -= values.get(key)?.byteLength ?? 0;
      values.delete(key);
      return done;
    },
    async list(prefix, limit, after) {
      const keys = [...values.keys()].filter(
        (key) => key.startsWith(prefix) && (after === undefined || byCodePoint(key, after) > 0),
      );
      return found(pageOf(keys.sort(byCodePoint).slice(0, limit + 1), limit));
    },
  };
}

/** The order of UTF-8 bytes, which is that of code points, and not that of UTF-16 units. */
function byCodePoint(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at++) {
    const difference = rank(left.charCodeAt(at)) - rank(right.charCodeAt(at));
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

/** Surrogates stand for what comes after every other unit. */
function rank(unit: number): number {
  return unit >= 0xe000 ? unit - 0x800 : unit >= 0xd800 ? unit + 0x2000 : unit;
}
