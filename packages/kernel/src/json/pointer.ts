import type { JsonArray, JsonObject, JsonValue } from "./json.ts";

/*
 * JSON Pointer (RFC 6901): splits one, and reads the place that it names.
 */

/** As a schema says it: a pointer to the whole, or to anything in it. */
export const pointerPattern = "^(/([^~/]|~[01])*)*$";

function unescapeToken(token: string): string {
  return token.replaceAll("~1", "/").replaceAll("~0", "~");
}

export function pointerTokens(pointer: string): string[] {
  return pointer.split("/").slice(1).map(unescapeToken);
}

/** Reads one place of a value. `undefined` where there is nothing. */
export type ReadPointer = (value: JsonValue) => JsonValue | undefined;

/** Own properties only; an index has no leading zeros. */
export function compilePointer(pointer: string): ReadPointer {
  const tokens = pointerTokens(pointer);
  const [first = ""] = tokens;
  // Most pointers name a member of the arguments: a policy whose rules all look at one spends half of a decision here.
  if (tokens.length === 1) return (value) => member(value, first);
  return (value) => {
    let found: JsonValue | undefined = value;
    for (const token of tokens) found = member(found, token);
    return found;
  };
}

function member(value: JsonValue | undefined, token: string): JsonValue | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (!Array.isArray(value)) return Object.hasOwn(value, token) ? (value as JsonObject)[token] : undefined;
  return /^(?:0|[1-9]\d*)$/.test(token) ? (value as JsonArray)[Number(token)] : undefined;
}
