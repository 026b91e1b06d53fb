import { present } from "../support/guards.ts";
import { canonicalize } from "../json/canonical-json.ts";
import type { Digest, Hash } from "../hash/hash.ts";
import type { JsonObject } from "../json/json.ts";
import { copyAndHash } from "../hash/copy-and-hash.ts";

/**
 * The depth of one line of a run file: the deepest input or output of a nested call, with its
 * frame. The kernel refuses a deeper request of a tool, and the run records the refusal.
 */
export const RUN_DEPTH = 72;

/** A request or a result in a run. */
export interface RecordedValue {
  /**
   * A copy that does not change. `{ fault }` for a value that is no data (a lone surrogate, too
   * deep, …), without its content.
   */
  readonly what: JsonObject;
  readonly hash: Digest;
}

export function recordValue(value: object, by: Hash): RecordedValue {
  const { what, text } = read(value);
  return { what, hash: by.text(text) };
}

/** {@link recordValue} of what can be large. */
export async function recordLongValue(value: object, by: Hash): Promise<RecordedValue> {
  const { what, text } = read(value);
  return { what, hash: await hashYielding(new TextEncoder().encode(text), by) };
}

function read(value: object): { readonly what: JsonObject; readonly text: string } {
  const result = canonicalize(value, RUN_DEPTH - 1);
  if (result.ok) return { what: JSON.parse(result.text) as JsonObject, text: result.text };
  const { message } = result.error;
  return { what: { fault: message }, text: message };
}

/** The digest that belongs to what a run says. */
export function hashOfRecorded(what: JsonObject, by: Hash): Digest {
  const { fault, ...others } = what;
  return typeof fault === "string" && Object.keys(others).length === 0 ? by.text(fault) : by.jsonOrFault(what);
}

/** Yields to the event loop between parts. The caller does not change the bytes meanwhile. */
export async function hashYielding(bytes: Uint8Array, by: Hash): Promise<Digest> {
  const taken = await copyAndHash(bytes, by, () => false, bytes);
  return present(taken).digest; // It is never over.
}
