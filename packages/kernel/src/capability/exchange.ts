import type { Digest, Hash } from "../normalize/hash.ts";
import { canonicalize } from "../normalize/canonical-json.ts";
import type { CapabilityReply } from "./broker.ts";
import type { CapabilityKind } from "./capability.ts";
import { codeOfRefusal, ended, failed } from "./refusals.ts";
import { turn } from "./turn.ts";

/** What the journal keeps of one request. */
export interface Use {
  readonly index: number;
  readonly kind: CapabilityKind;
  readonly operation: string;
  /** What was touched: a URL without query and credentials, or a path. */
  readonly target: string;
  readonly outcome: "ok" | "refused" | "failed";
  readonly requestHash: string;
  readonly responseHash: string;
}

/**
 * What a broker answered, read once: brokers are believed, and still only as good as whoever wrote them.
 *
 * @throws TypeError for what is no answer
 */
export function readReply(foreign: CapabilityReply): CapabilityReply {
  if (!foreign.ok) {
    const { code, message, hint } = foreign.error;
    if ([code, message, hint].some((each) => typeof each !== "string") || !Object.hasOwn(codeOfRefusal, code))
      throw new TypeError("A refusal says texts.");
    return failed({ code, message, hint });
  }
  const { value, body } = foreign;
  if (!body) return { ok: true, value };
  // Also one of another realm: a Buffer is one in some test environments.
  if (!ArrayBuffer.isView(body) || body[Symbol.toStringTag] !== "Uint8Array")
    throw new TypeError("A body is a Uint8Array.");
  return { ok: true, value, body };
}

/**
 * A copy of what a broker answered, and its digest. Who makes an answer can make one that is another when it is read again, where it is put into an isolate: what is handed over is
 * what was hashed. A header can hold a lone surrogate; what else is no data has no way into an isolate, and is not told by its digest.
 */
function readData<T extends object>(value: T, hash: Hash): readonly [copy: T, hash: string] {
  const result = canonicalize(value);
  if (!result.ok && result.error.reason !== "lone-surrogate") throw new TypeError(result.error.message);
  const text = result.ok ? result.text : JSON.stringify(value);
  return [JSON.parse(text) as T, hash.text(result.ok ? text : result.error.message)];
}

/** Copied and hashed in one go, which takes a thread that others wait for as well about a millisecond. */
const GO_BYTES = 524_288;

/** Bytes that nobody else holds, and their digest. */
interface Taken {
  readonly bytes: Uint8Array;
  readonly digest: Digest;
}

/**
 * Bytes and their digest. Many are taken piece by piece, with a turn of the event loop before each further one; few at once, and without a promise.
 *
 * @param isOver asked before each further piece: at `true` the call has ended, and the rest is not taken
 * @param bytes where they are taken to: a copy by default, or what was given itself, where it is nobody else's
 * @throws TypeError for bytes whose memory is gone
 */
export function takeBytes(
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
      await turn();
      if (isOver()) return undefined;
    }
    const piece = bytes.subarray(at, at + GO_BYTES);
    // Whatever its owner has made of it since: what is handed over is what was hashed.
    if (bytes !== given && at <= given.length) piece.set(given.subarray(at, at + piece.length));
    hasher.update(piece);
  }
  return { bytes, digest: hasher.digest() };
}

/**
 * A copy of an answer, and what the log says of it.
 *
 * @throws TypeError for a value that is no data
 */
export async function takeReply(
  reply: CapabilityReply,
  hash: Hash,
  isOver: () => boolean = () => false,
): Promise<readonly [reply: CapabilityReply, hash: string]> {
  if (!reply.ok) return readData(reply, hash);
  const { value, body } = reply;
  const taking = body && !isOver() ? takeBytes(body, hash, isOver) : undefined;
  const taken = taking instanceof Promise ? await taking : taking;
  if (body && !taken) return takeReply(ended, hash);
  const [copy, digest] = readData({ ok: true, value, body: taken?.digest ?? null }, hash);
  return [{ ok: true, value: copy.value, ...(taken && { body: taken.bytes }) }, digest];
}
