import { pointerTokens, snapshot } from "@keyhole/kernel";
import type { Position } from "@keyhole/kernel/policy";
import { parse, TomlError } from "smol-toml";
import type { ConfigText } from "./text.ts";

/** TOML 1.1 as JSON data: the reader refuses a date, because JSON has none. */
export function parseToml(text: string): ConfigText {
  const parsed = read(text);
  if (!parsed.ok) return parsed;
  const plain = snapshot(parsed.document);
  if (!plain.ok) {
    const message = `A value has no form in JSON: ${plain.error.message}.`;
    return { ok: false, message, at: placeIn(text, parsed.document, plain.error.path) };
  }
  const document = plain.value;
  return { ok: true, document, locate: (pointer) => placeIn(text, document, pointer) };
}

type Read = { readonly ok: true; readonly document: object } | Extract<ConfigText, { ok: false }>;

function read(text: string): Read {
  try {
    return { ok: true, document: parse(text, { integersAsBigInt: false }) };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const { line, column } = error;
    const message = (error.message.split("\n", 1)[0] ?? "").replace(
      /^Invalid TOML document: /,
      "The TOML is not valid: ",
    );
    return { ok: false, message: `${message}.`, at: { line, column } };
  }
}

/**
 * The line of the statement that a pointer leads to, as far as the document goes with it. The parser keeps no places, but the lines before a statement are a document without
 * its value: so the first line is sought with which the value is there.
 */
function placeIn(text: string, document: unknown, pointer: string): Position {
  const lines = text.split("\n");
  const tokens = pointerTokens(pointer);
  const known = tokens.slice(0, depthOf(document, tokens));
  if (known.length === 0) return { line: 1, column: 1 };
  const has = (count: number): boolean | undefined => {
    const part = read(lines.slice(0, count).join("\n"));
    return part.ok ? depthOf(part.document, known) === known.length : undefined;
  };
  let before = 0;
  let after = lines.length;
  while (after - before > 1) {
    const middle = (before + after) >> 1;
    // Within a statement of several lines the text is no document: its end decides.
    let end = middle;
    while (end < after && has(end) === undefined) end++;
    if (end === after || has(end) === true) after = end === after ? middle : end;
    else before = end;
  }
  return { line: firstLine(lines, before, after), column: 1 };
}

/** Behind comments and empty lines. */
function firstLine(lines: readonly string[], before: number, after: number): number {
  let line = before + 1;
  while (line < after && /^\s*(?:#|$)/.test(lines[line - 1] ?? "")) line++;
  return line;
}

/** How many tokens lead to something. */
function depthOf(document: unknown, tokens: readonly string[]): number {
  let value: unknown = document;
  for (const [depth, token] of tokens.entries()) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, token)) return depth;
    value = (value as Readonly<Record<string, unknown>>)[token];
  }
  return tokens.length;
}
