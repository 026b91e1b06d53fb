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
    if ([code, message, hint].some((each) => typeof each !== "string")) throw new TypeError("A refusal says texts.");
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
  if (!reply.ok) return readData(reply, hash);
  const { value, body: given } = reply;
  const body = given && new Uint8Array(given.length);
  let bodyHash: string | null = null;
  if (body) {
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
    bodyHash = hasher.digest();
  }
  const [copy, digest] = readData({ ok: true, value, body: bodyHash }, hash);
  return [{ ok: true, value: copy.value, ...(body && { body }) }, digest];
}
