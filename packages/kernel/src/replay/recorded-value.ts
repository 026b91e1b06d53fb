import { present } from "../support/guards.ts";
import { canonicalize } from "../json/canonical-json.ts";
import type { Digest, Hash } from "../hash/hash.ts";
import type { JsonObject } from "../json/json.ts";
import { copyAndHash } from "../hash/copy-and-hash.ts";

/**
 * Arrays and objects within each other in one line of a run file: the deepest input of a call from within, or its output, with what stands around it. What a tool asks for may be
 * deeper, and is refused by its kernel: then the run says that.
 */
export const RUN_DEPTH = 72;

/** What a run says of a request or a result. */
export interface RecordedValue {
  /** A copy: nobody changes it afterwards. `{ fault }` for what is no data (a lone surrogate, too deep, …): nothing but that is known of it. */
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

/** Others have turns of the thread in between. Nobody changes the bytes meanwhile. */
export async function hashYielding(bytes: Uint8Array, by: Hash): Promise<Digest> {
  const taken = await copyAndHash(bytes, by, () => false, bytes);
  return present(taken).digest; // It is never over.
}
