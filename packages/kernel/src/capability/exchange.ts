import type { Hash } from "../normalize/hash.ts";
import { canonicalize } from "../normalize/canonical-json.ts";
import type { CapabilityReply, CapabilityRequest } from "./broker.ts";
import type { CapabilityKind } from "./capability.ts";
import { ended, failed } from "./refusals.ts";
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

/** What the log says of a request. */
export function hashRequest({ body, ...rest }: CapabilityRequest, hash: Hash): string {
  return hash.jsonOrFault({ ...rest, body: body ? hash.bytes(body) : null });
}

/**
 * What a broker answered, read once: brokers are believed, and still only as good as whoever wrote them.
 *
 * @throws TypeError for what is no answer
 */
export function readReply(foreign: CapabilityReply): CapabilityReply {
  if (!foreign.ok) {
    const { code, message, hint } = foreign.error;
    return failed({ code, message, hint });
  }
  const { value, body } = foreign;
  if (!body) return { ok: true, value };
  // Also one of another realm: a Buffer is one in some test environments.
  if (!ArrayBuffer.isView(body) || body[Symbol.toStringTag] !== "Uint8Array")
    throw new TypeError("A body is a Uint8Array.");
  return { ok: true, value, body };
}

/** A header can hold a lone surrogate; what else is no data has no way into an isolate, and is not told by its digest. */
function hashData(value: unknown, hash: Hash): string {
  const result = canonicalize(value);
  if (!result.ok && result.error.reason !== "lone-surrogate") throw new TypeError(result.error.message);
  return hash.text(result.ok ? result.text : result.error.message);
}

/** Copied and hashed in one go, which takes a thread that others wait for as well about a millisecond. */
const GO_BYTES = 524_288;

/**
 * An answer whose body is a copy that nobody else holds, and what the log says of it. A large body is taken piece by piece, with a turn of the event loop before each further one.
 *
 * @param isOver asked before each piece: at `true` the call has ended, and the rest is not taken
 * @throws TypeError for a value that is no data
 */
export async function takeReply(
  reply: CapabilityReply,
  hash: Hash,
  isOver: () => boolean = () => false,
): Promise<readonly [reply: CapabilityReply, hash: string]> {
  if (!reply.ok) return [reply, hashData(reply, hash)];
  const { value, body: given } = reply;
  if (!given) return [reply, hashData({ ok: true, value, body: null }, hash)];
  const body = new Uint8Array(given.length);
  const hasher = hash.hasher();
  let at = 0;
  do {
    if (at > 0) await turn();
    if (isOver()) return takeReply(ended, hash);
    const piece = body.subarray(at, at + GO_BYTES);
    // Whatever its owner has made of it since: what is handed over is what was hashed.
    if (at <= given.length) piece.set(given.subarray(at, at + piece.length));
    hasher.update(piece);
  } while ((at += GO_BYTES) < body.length);
  return [{ ok: true, value, body }, hashData({ ok: true, value, body: hasher.digest() }, hash)];
}
