import type { Hash } from "../normalize/hash.ts";
import { canonicalize } from "../normalize/canonical-json.ts";
import { takeBytes } from "../normalize/take-bytes.ts";
import type { CapabilityReply } from "./broker.ts";
import type { CapabilityKind } from "./capability.ts";
import { codeOfRefusal, ended, failed } from "./refusals.ts";

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
