import { type NormalizeError, normalizeError, pointer } from "./error.ts";
import { isPlain } from "./plain.ts";
import type { JsonValue } from "./json.ts";

export type CanonicalResult =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly error: NormalizeError };

/** Nested arrays and objects that `canonicalize` accepts by default: far above real data, far below any engine's stack. */
export const CANONICAL_MAX_DEPTH = 512;

/**
 * The canonical JSON text of a value (RFC 8785): no whitespace, numbers as ECMAScript prints them, keys ordered by their UTF-16
 * units. Two values have the same text exactly when they are the same JSON data.
 *
 * Refused, with the path: what JSON cannot carry (`undefined`, also as a property; functions, symbols, BigInt, NaN and the infinities,
 * class instances), text that UTF-8 cannot carry (lone surrogates), cycles, and more than `maxDepth` nested arrays and objects.
 * An own key `__proto__` is data like any other.
 *
 * Getters are called, as by `JSON.stringify`, and size is not bounded: pass a foreign value through `snapshot` first.
 *
 * @example
 * const result = canonicalize({ b: 1, a: -0 });
 * if (result.ok) result.text; // {"a":0,"b":1}
 */
export function canonicalize(value: unknown, maxDepth: number = CANONICAL_MAX_DEPTH): CanonicalResult {
  try {
    return { ok: true, text: write(value, maxDepth) };
  } catch {
    return { ok: false, error: explain(value, maxDepth) };
  }
}

/**
 * The canonical text of a value that is known to be JSON.
 *
 * @throws TypeError when it is not: a bug in the caller, never bad input.
 */
export function canonicalJson(value: JsonValue): string {
  const result = canonicalize(value);
  if (!result.ok) throw new TypeError(`not canonical JSON: ${result.error.message}`);
  return result.text;
}

const needsNoEscape = /^[\x20\x21\x23-\x5b\x5d-\ud7ff\ue000-\uffff]*$/;

function quote(text: string): string {
  if (needsNoEscape.test(text)) return `"${text}"`;
  if (!text.isWellFormed()) throw refused;
  return JSON.stringify(text);
}

/** Thrown inside this file only: the place is looked for afterwards, so that a value without fault pays nothing for it. */
const refused: unknown = new TypeError("refused");

function write(value: unknown, depthLeft: number): string {
  switch (typeof value) {
    case "string":
      return quote(value);
    case "number":
      if (value - value !== 0) throw refused;
      return `${value}`;
    case "boolean":
      return value ? "true" : "false";
    case "object":
      if (value === null) return "null";
      if (depthLeft < 1 || !isPlain(value)) throw refused;
      return Array.isArray(value) ? writeArray(value, depthLeft - 1) : writeObject(value as Record<string, unknown>, depthLeft - 1);
    default:
      throw refused;
  }
}

function writeArray(items: readonly unknown[], depthLeft: number): string {
  if (items.length === 0) return "[]";
  let text = `[${write(items[0], depthLeft)}`;
  for (let i = 1; i < items.length; i++) text += `,${write(items[i], depthLeft)}`;
  return `${text}]`;
}

function writeObject(object: Record<string, unknown>, depthLeft: number): string {
  const keys = Object.keys(object).sort();
  let text = "";
  for (const key of keys) text += `${text && ","}${quote(key)}:${write(object[key], depthLeft)}`;
  return `{${text}}`;
}

function explain(value: unknown, maxDepth: number): NormalizeError {
  try {
    // No fault found although writing failed: only the length of the text is left as the cause.
    return locate(value, "", maxDepth, new Set()) ?? normalizeError("too-large", "");
  } catch (error) {
    return normalizeError(error instanceof RangeError ? "too-deep" : "unreadable", "");
  }
}

/** The same walk again, in the same order, now with the path at hand. */
function locate(value: unknown, path: string, depthLeft: number, ancestors: Set<unknown>): NormalizeError | undefined {
  const kind = typeof value;
  if (kind === "string") return (value as string).isWellFormed() ? undefined : normalizeError("lone-surrogate", path);
  if (kind === "number") return Number.isFinite(value) ? undefined : normalizeError("not-finite", path);
  if (kind === "boolean" || value === null) return undefined;
  if (kind !== "object") return normalizeError(kind as "bigint" | "function" | "symbol" | "undefined", path);
  if (ancestors.has(value)) return normalizeError("cycle", path);
  if (depthLeft < 1) return normalizeError("too-deep", path);
  if (!isPlain(value as object)) return normalizeError("not-plain", path);
  ancestors.add(value);
  const isArray = Array.isArray(value);
  const keys = isArray ? value.keys() : Object.keys(value as object).sort();
  for (const key of keys) {
    const place = pointer(path, key);
    if (!isArray && !(key as string).isWellFormed()) return normalizeError("lone-surrogate", place);
    const error = locate((value as Record<string, unknown>)[key], place, depthLeft - 1, ancestors);
    if (error) return error;
  }
  ancestors.delete(value);
  return undefined;
}
