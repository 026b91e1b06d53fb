import { canonicalize } from "../normalize/canonical-json.ts";
import type { Digest, Hash } from "../normalize/hash.ts";
import type { JsonObject } from "../normalize/json.ts";
import { takeBytes } from "../normalize/take-bytes.ts";

/**
 * Arrays and objects within each other in one line of a run file: the deepest input of a call from within, or its output, with what stands around it. What a tool asks for may be
 * deeper, and is refused by its kernel: then the run says that.
 */
export const RUN_DEPTH = 72;

/** What a run says of a request or a result. */
export interface Told {
  /** A copy: nobody changes it afterwards. `{ fault }` for what is no data (a lone surrogate, too deep, …): nothing but that is known of it. */
  readonly what: JsonObject;
  readonly hash: Digest;
}

export function tell(value: object, by: Hash): Told {
  const { what, text } = read(value);
  return { what, hash: by.text(text) };
}

/** {@link tell} of what can be large. */
export async function tellLong(value: object, by: Hash): Promise<Told> {
  const { what, text } = read(value);
  return { what, hash: await hashInTurns(new TextEncoder().encode(text), by) };
}

function read(value: object): { readonly what: JsonObject; readonly text: string } {
  const result = canonicalize(value, RUN_DEPTH - 1);
  if (result.ok) return { what: JSON.parse(result.text) as JsonObject, text: result.text };
  const { message } = result.error;
  return { what: { fault: message }, text: message };
}

/** The digest that belongs to what a run says. */
export function toldHash(what: JsonObject, by: Hash): Digest {
  const { fault, ...others } = what;
  return typeof fault === "string" && Object.keys(others).length === 0 ? by.text(fault) : by.jsonOrFault(what);
}

/** Others have turns of the thread in between. Nobody changes the bytes meanwhile. */
export async function hashInTurns(bytes: Uint8Array, by: Hash): Promise<Digest> {
  const taken = await takeBytes(bytes, by, () => false, bytes);
  return taken!.digest; // It is never over.
}
