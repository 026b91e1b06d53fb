import { addToPolicy } from "../../capability/denial.ts";
import { isJsonObject, type JsonObject } from "../../json/json.ts";
import { parseJson } from "../../json/snapshot.ts";

/**
 * The grants that the `operatorHint` of an error says to add to the policy; none where it names none. A hint can come from anywhere: a grant of it is
 * checked by `loadPolicy`, in the policy that a person adds it to.
 *
 * @example
 * const grants = result.ok ? [] : suggestedGrants(result.error.operatorHint);
 */
export function suggestedGrants(operatorHint: string): readonly JsonObject[] {
  const [, ...parts] = operatorHint.split(`${addToPolicy}: `);
  return parts.map(objectAt).filter((grant) => grant !== undefined);
}

/** The JSON object that a text begins with. */
function objectAt(text: string): JsonObject | undefined {
  const end = endOfObject(text);
  if (end === undefined) return undefined;
  const parsed = parseJson(text.slice(0, end));
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : undefined;
}

/** A quoted text, or a bracket: all else of JSON changes no depth. */
const tokens = /"(?:[^"\\]|\\.)*"|[{}]/g;

function endOfObject(text: string): number | undefined {
  if (!text.startsWith("{")) return undefined;
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(tokens)) {
    if (token === "{") depth++;
    if (token === "}" && --depth === 0) return index + 1;
  }
  return undefined;
}
