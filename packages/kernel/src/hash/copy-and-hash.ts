import type { Digest, Hash } from "./hash.ts";
import { yieldToEventLoop } from "../support/yield-to-event-loop.ts";

/** Copied and hashed in one go, which takes a thread that others wait for as well about a millisecond. */
const GO_BYTES = 524_288;

/** Bytes of one owner, and their digest. */
interface Taken {
  readonly bytes: Uint8Array;
  readonly digest: Digest;
}

/**
 * Copies bytes and hashes them. It takes many bytes in parts and yields to the event loop between
 * them, and few bytes at once without a promise.
 *
 * @param isOver asked before each further part: at `true` the call has ended, and the rest is
 * dropped
 * @param bytes the target: a copy by default, or the given bytes themselves, where they have no
 * other owner
 * @throws TypeError for detached bytes
 */
export function copyAndHash(
  given: Uint8Array,
  hash: Hash,
  isOver: () => boolean,
  bytes: Uint8Array = new Uint8Array(given.length),
): Taken | Promise<Taken | undefined> {
  if (bytes.length > GO_BYTES) return takeMany(given, hash, isOver, bytes);
  if (bytes !== given) bytes.set(given);
  return { bytes, digest: hash.bytes(bytes) };
}

async function takeMany(
  given: Uint8Array,
  hash: Hash,
  isOver: () => boolean,
  bytes: Uint8Array,
): Promise<Taken | undefined> {
  const hasher = hash.hasher();
  for (let at = 0; at < bytes.length; at += GO_BYTES) {
    if (at > 0) {
      await yieldToEventLoop();
      if (isOver()) return undefined;
    }
    const piece = bytes.subarray(at, at + GO_BYTES);
    // The hashed bytes leave, also after a change by their owner.
    if (bytes !== given && at <= given.length) piece.set(given.subarray(at, at + piece.length));
    hasher.update(piece);
  }
  return { bytes, digest: hasher.digest() };
}
