import { canonicalize, type CanonicalResult } from "./canonicalize.ts";
import type { JsonLike } from "./json.ts";
import type { Taken } from "./snapshot.ts";

export { canonicalize, type CanonicalResult };

/**
 * The canonical text of a value that is known to be JSON; see {@link canonicalize}.
 *
 * @throws TypeError when it is not: a bug in the caller, never bad input.
 */
export function canonicalJson<T>(value: JsonLike<T>): string {
  const result = canonicalize(value);
  if (!result.ok) throw new TypeError(result.error.message);
  return result.text;
}

/** {@link canonicalJson} of what a walk has found to be plain: the engine's own writer is right where the keys are in order and nothing has taught it otherwise. */
export function canonicalTextOf({ value, isOrdered }: Extract<Taken, { ok: true }>): string {
  return isOrdered && !("toJSON" in Array.prototype) ? JSON.stringify(value) : canonicalJson(value);
}
