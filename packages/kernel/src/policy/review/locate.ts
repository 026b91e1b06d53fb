import { pointerTokens } from "../../json/pointer.ts";

/** From 1, in characters as editors count them. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/**
 * Where a JSON Pointer (RFC 6901) leads in a JSON text, so that a refusal of a document can be shown at its line. As far as the text goes with it:
 * for what is absent, the place of the last container that is there. A text that a person still types is read up to its first key that is no JSON.
 *
 * @example
 * const loaded = loadPolicy(JSON.parse(text));
 * if (!loaded.ok) console.error(locate(text, loaded.error.path).line, loaded.error.message);
 */
export function locate(text: string, pointer: string): Position {
  return locator(text)(pointer);
}

/** {@link locate} for many places of one text: it reads each container on the way once. */
export function locator(text: string): (pointer: string) => Position {
  const members = new Map<number, ReadonlyMap<string, number>>();
  const lines = [...text.matchAll(/\n/g)].map(({ index }) => index);
  return (pointer) => {
    let at = skipSpace(text, 0);
    for (const token of pointerTokens(pointer)) {
      const known = members.get(at) ?? membersAt(text, at);
      members.set(at, known);
      const next = known.get(token);
      if (next === undefined) break;
      at = next;
    }
    const before = linesBefore(lines, at);
    return { line: before + 1, column: at - (lines[before - 1] ?? -1) };
  };
}

/** The number of line ends before a place. */
function linesBefore(lines: readonly number[], at: number): number {
  let [from, to] = [0, lines.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (lines[middle]! < at) from = middle + 1;
    else to = middle;
  }
  return from;
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

function keyOf(text: string): string | undefined {
  try {
    return String(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Where each member of the container at `from` begins. Of equal keys the last one counts, as for `JSON.parse`. */
function membersAt(text: string, from: number): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  const isObject = text[from] === "{";
  if (!isObject && text[from] !== "[") return found;
  let index = 0;
  let at = skipSpace(text, from + 1);
  while (at < text.length && text[at] !== "}" && text[at] !== "]") {
    let key = String(index++);
    if (isObject) {
      const end = skipString(text, at);
      const read = keyOf(text.slice(at, end));
      if (read === undefined) return found;
      key = read;
      at = skipSpace(text, skipSpace(text, end) + 1);
    }
    found.set(key, at);
    at = skipSpace(text, skipValue(text, at));
    if (text[at] === ",") at = skipSpace(text, at + 1);
  }
  return found;
}
