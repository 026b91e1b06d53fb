import { canonicalize, type CanonicalResult } from "./canonicalize.ts";
import type { JsonValue } from "./json.ts";

export { canonicalize, type CanonicalResult };

/**
 * The canonical text of a value that is known to be JSON; see {@link canonicalize}.
 *
 * @throws TypeError when it is not: a bug in the caller, never bad input.
 */
export function canonicalJson(value: JsonValue): string {
  const result = canonicalize(value);
  if (!result.ok) throw new TypeError(result.error.message);
  return result.text;
}
