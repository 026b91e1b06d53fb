import { isJsonArray, type JsonValue } from "./json.ts";

/*
 * JSON Pointer (RFC 6901). Only this file splits one, and escapes a token, but for `normalize-error.ts`: the canonical
 * form alone has to stay small.
 */

/** As a schema says it: a pointer to the whole, or to anything in it. */
export const pointerPattern = "^(/([^~/]|~[01])*)*$";

/** One reference token, escaped (RFC 6901, 3). */
export function escapeToken(token: string): string {
  return token.includes("~") || token.includes("/") ? token.replaceAll("~", "~0").replaceAll("/", "~1") : token;
}

export function unescapeToken(token: string): string {
  return token.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** The pointer with these reference tokens: `["a", 0]` is `/a/0`. */
export function pointerOf(tokens: readonly (string | number)[]): string {
  return tokens.map((token) => `/${escapeToken(`${token}`)}`).join("");
}

/** The reference tokens of a pointer, unescaped: the reverse of {@link pointerOf}. */
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
  return (value) => valueAt(value, tokens);
}

/** The value at the tokens, by own properties only. */
export function valueAt(value: JsonValue | undefined, tokens: readonly string[]): JsonValue | undefined {
  let found = value;
  for (const token of tokens) found = member(found, token);
  return found;
}

function member(value: JsonValue | undefined, token: string): JsonValue | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (!isJsonArray(value)) return Object.hasOwn(value, token) ? value[token] : undefined;
  return /^(?:0|[1-9]\d*)$/.test(token) ? value[Number(token)] : undefined;
}
