import { escapeToken } from "../json/pointer.ts";
import type { JsonValue } from "../json/json.ts";

/** The first place at which two values are not equal. */
export interface Difference {
  /** JSON Pointer. */
  readonly path: string;
  /** Short JSON texts; `nothing` where there is nothing. Of two long texts, what is around the first character that differs. */
  readonly expected: string;
  readonly actual: string;
}

/** Characters of a value in one readable line. */
const SHOWN = 80;

/** `undefined` for equal values. Members in the order of the expected value; what only the other one has comes last. */
export function firstDifference(
  expected: JsonValue | undefined,
  actual: JsonValue | undefined,
  path = "",
): Difference | undefined {
  if (isTree(expected) && isTree(actual) && Array.isArray(expected) === Array.isArray(actual)) {
    const keys = new Set([...Object.keys(expected), ...Object.keys(actual)]);
    for (const key of keys) {
      const place = `${path}/${escapeToken(key)}`;
      const found = firstDifference(memberOf(expected, key), memberOf(actual, key), place);
      if (found) return found;
    }
    return undefined;
  }
  if (expected === actual) return undefined;
  if (typeof expected === "string" && typeof actual === "string") return differenceOfTexts(expected, actual, path);
  return { path, expected: show(expected), actual: show(actual) };
}

function differenceOfTexts(expected: string, actual: string, path: string): Difference {
  let at = 0;
  while (at < expected.length && expected[at] === actual[at]) at++;
  const from = expected.length > SHOWN || actual.length > SHOWN ? Math.max(0, at - SHOWN / 4) : 0;
  const around = (text: string): string => {
    const part = JSON.stringify(text.slice(from, from + SHOWN));
    return `${from > 0 ? "…" : ""}${part}${from + SHOWN < text.length ? "…" : ""}`;
  };
  return { path, expected: around(expected), actual: around(actual) };
}

type Tree = { readonly [key: string]: JsonValue };

function isTree(value: JsonValue | undefined): value is Tree {
  return typeof value === "object" && value !== null;
}

function memberOf(value: Tree, key: string): JsonValue | undefined {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

function show(value: JsonValue | undefined): string {
  if (value === undefined) return "nothing";
  const text = JSON.stringify(value);
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}
