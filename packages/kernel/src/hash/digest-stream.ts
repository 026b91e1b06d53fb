import { blake3Hash } from "./blake3-hash.ts";
import type { Digest } from "./hash.ts";

/*
 * `@keyhole/kernel/stream`: the digest of what is too large to be held. Nothing that a kernel runs imports it.
 */

/** The digest of a stream: equal to that of `normalize("binary", …)` over the same bytes. */
export type StreamDigest =
  | { readonly ok: true; readonly hash: Digest; readonly byteLength: number }
  /** More than `limitBytes` came; what had been handed on by then was `byteLength` bytes. */
  | { readonly ok: false; readonly reason: "too-large"; readonly byteLength: number };

/** A stream with its digest, which exists at the end of the stream. */
export interface HashedStream extends AsyncIterable<Uint8Array<ArrayBuffer>> {
  /** Resolves at the end of the stream, or at its limit; rejects with what the source threw, or when the reader stopped before. */
  readonly digest: Promise<StreamDigest>;
}

/**
 * Hashes bytes while they stream, with 3 KB of state and at most one chunk in memory. Read it once.
 * It drops a chunk that would exceed the limit, and ends the source.
 *
 * @param limitBytes of all chunks together
 * @example
 * const hashed = hashStream(response.body!, 1_000_000_000);
 * for await (const piece of hashed) await file.write(piece);
 * const digest = await hashed.digest;
 * if (digest.ok) console.log(digest.hash, digest.byteLength);
 */
export function hashStream(
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  limitBytes: number = Number.MAX_SAFE_INTEGER,
): HashedStream {
  const { promise, resolve, reject } = Promise.withResolvers<StreamDigest>();
  promise.catch(() => {}); // Whoever only reads hears of a failure there.
  return { digest: promise, [Symbol.asyncIterator]: () => flow(source, limitBytes, resolve, reject) };
}

async function* flow(
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  limitBytes: number,
  resolve: (digest: StreamDigest) => void,
  reject: (error: unknown) => void,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  const hasher = blake3Hash.hasher();
  let byteLength = 0;
  try {
    for await (const piece of source) {
      // A copy: the source may use its buffer again, and what is handed on has to be what was hashed.
      const bytes = new Uint8Array(piece);
      if (byteLength + bytes.length > limitBytes) {
        resolve({ ok: false, reason: "too-large", byteLength });
        return;
      }
      hasher.update(bytes);
      byteLength += bytes.length;
      yield bytes;
    }
    resolve({ ok: true, hash: hasher.digest(), byteLength });
  } catch (error) {
    reject(error);
    throw error;
  } finally {
    // Without effect where it is settled already.
    reject(new Error("the stream was not read to its end"));
  }
}
