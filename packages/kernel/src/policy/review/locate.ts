import { pointerTokens } from "../../json/pointer.ts";

/** From 1, in characters as editors count them. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/**
 * Where a JSON Pointer (RFC 6901) leads in a JSON text, so that a refusal of a document can be shown at its line. As far as the text goes with it:
 * for what is absent, the place of the last container that is there. The text is known to be JSON.
 *
 * @example
 * const loaded = loadPolicy(JSON.parse(text));
 * if (!loaded.ok) console.error(locate(text, loaded.error.path).line, loaded.error.message);
 */
export function locate(text: string, pointer: string): Position {
  const tokens = pointerTokens(pointer);
  let at = skipSpace(text, 0);
  for (const token of tokens) {
    const next = step(text, at, token);
    if (next === undefined) break;
    at = next;
  }
  const before = text.slice(0, at);
  const line = before.split("\n").length;
  return { line, column: at - before.lastIndexOf("\n") };
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && " \t\n\r".includes(text.charAt(at))) at++;
  return at;
}

/** Behind the string that begins at `from`. */
function skipString(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}

/** Behind the value that begins at `from`. */
function skipValue(text: string, from: number): number {
  if (text[from] === '"') return skipString(text, from);
  let depth = 0;
  let at = from;
  while (at < text.length) {
    const character = text.charAt(at);
    if (character === '"') {
      at = skipString(text, at);
      continue;
    }
    if (character === "{" || character === "[") depth++;
    else if (character === "}" || character === "]") {
      if (depth === 0) return at;
      depth--;
    } else if (depth === 0 && (character === "," || " \t\n\r".includes(character))) return at;
    at++;
    if (depth === 0 && (character === "}" || character === "]")) return at;
  }
  return at;
}

/** Where the member of the container at `from` begins. Of equal keys the last one counts, as for `JSON.parse`. */
function step(text: string, from: number, token: string): number | undefined {
  const isObject = text[from] === "{";
  if (!isObject && text[from] !== "[") return undefined;
  let found: number | undefined;
  let index = 0;
  let at = skipSpace(text, from + 1);
  while (at < text.length && text[at] !== "}" && text[at] !== "]") {
    let key = String(index++);
    if (isObject) {
      const end = skipString(text, at);
      key = String(JSON.parse(text.slice(at, end)));
      at = skipSpace(text, skipSpace(text, end) + 1);
    }
    if (key === token) found = at;
    at = skipSpace(text, skipValue(text, at));
    if (text[at] === ",") at = skipSpace(text, at + 1);
  }
  return found;
}
