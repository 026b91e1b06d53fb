import { turn } from "./turn.ts";
import type { Hash } from "../normalize/hash.ts";
import type { CapabilityReply, CapabilityRequest } from "./broker.ts";
import type { CapabilityKind } from "./capability.ts";

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

/** Copied and hashed in one go, which takes a thread that others wait for as well about a millisecond. */
const GO_BYTES = 524_288;

/**
 * An answer whose body is a copy that nobody else holds, and what the log says of it. A large body is taken piece by piece, with a turn of the event loop before each further one.
 * A broker's value is data by contract; a header of it can still hold a lone surrogate.
 */
export async function takeReply(
  reply: CapabilityReply,
  hash: Hash,
): Promise<readonly [reply: CapabilityReply, hash: string]> {
  if (!reply.ok) return [reply, hash.jsonOrFault({ ok: false, error: { ...reply.error } })];
  const { value, body: given } = reply;
  if (!given) return [reply, hash.jsonOrFault({ ok: true, value, body: null })];
  const body = new Uint8Array(given.length);
  const hasher = hash.hasher();
  let at = 0;
  do {
    if (at > 0) await turn();
    const piece = body.subarray(at, at + GO_BYTES);
    // Whatever its owner has made of it since: what is handed over is what was hashed.
    if (at <= given.length) piece.set(given.subarray(at, at + piece.length));
    hasher.update(piece);
  } while ((at += GO_BYTES) < body.length);
  return [{ ok: true, value, body }, hash.jsonOrFault({ ok: true, value, body: hasher.digest() })];
}
