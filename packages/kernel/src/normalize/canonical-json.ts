import { type NormalizeError, type NormalizeReason, normalizeError } from "./error.ts";
import type { JsonValue } from "./json.ts";
import { isPlain } from "./plain.ts";

export type CanonicalResult =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly error: NormalizeError };

/** Arrays and objects within each other that `canonicalize` accepts by default: far above real data, far below any engine's stack. */
export const CANONICAL_MAX_DEPTH = 512;

/**
 * The canonical JSON text of a value (RFC 8785): no whitespace, numbers as ECMAScript prints them, keys ordered by their
 * UTF-16 units. Two values have the same text exactly when they are the same JSON data.
 *
 * Refused, with the path: what JSON cannot carry (`undefined`, also as a property; functions, symbols, BigInt, NaN and the
 * infinities, class instances), text that UTF-8 cannot carry (lone surrogates), cycles, and more than `maxDepth` arrays and
 * objects within each other. An own key `__proto__` is data like any other.
 *
 * Getters are called, as by `JSON.stringify`, and the size is not bounded: take a `snapshot` of a foreign value first.
 *
 * @example
 * const result = canonicalize({ b: 1, a: -0 });
 * if (result.ok) result.text; // {"a":0,"b":1}
 */
export function canonicalize(value: unknown, maxDepth: number = CANONICAL_MAX_DEPTH): CanonicalResult {
  try {
    return { ok: true, text: write(value, maxDepth) };
  } catch (error) {
    return { ok: false, error: explain(error) };
  }
}

/**
 * The canonical text of a value that is known to be JSON.
 *
 * @throws TypeError when it is not: a bug in the caller, never bad input.
 */
export function canonicalJson(value: JsonValue): string {
  const result = canonicalize(value);
  if (!result.ok) throw new TypeError(`not JSON: ${result.error.message}`);
  return result.text;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Thrown and caught inside this file only. Every container that it passes on its way up adds itself and its key to the trail, so
 * that a path costs nothing until it is needed; nothing foreign runs between the throw and the end of the trail.
 */
const refusal = {};
let reason: NormalizeReason;
let tokens: string[] = [];
let values: unknown[] = [];

function refuse(why: NormalizeReason, value?: unknown): never {
  reason = why;
  values = [value];
  throw refusal;
}

function passing(error: unknown, container: unknown, token: string | undefined): unknown {
  if (token !== undefined) tokens.unshift(token);
  values.unshift(container);
  return error;
}

function explain(error: unknown): NormalizeError {
  // What is not ours was thrown by a getter or a proxy, or by an engine whose stack or longest string is reached.
  if (error !== refusal) reason = error instanceof RangeError ? "too-large" : "unreadable";
  if (reason === "too-deep") {
    const again = values.findIndex((value, i) => values.indexOf(value) < i);
    if (again > 0) {
      reason = "cycle";
      tokens.length = again;
    }
  }
  const explained = normalizeError(reason, tokens);
  tokens = [];
  values = [];
  return explained;
}

function write(value: unknown, depthLeft: number): string {
  // Not a switch: V8 compiles these comparisons to tests of the type, without making its name first.
  if (typeof value === "string") return quote(value);
  if (typeof value === "number") return value - value === 0 ? "" + value : refuse("not-finite");
  if (typeof value === "boolean" || value === null) return "" + value;
  if (typeof value !== "object") return refuse(typeof value as "bigint");
  if (depthLeft < 1) refuse("too-deep", value);
  if (!isPlain(value)) refuse("not-plain");
  return Array.isArray(value) ? writeArray(value, depthLeft - 1) : writeObject(value as Fields, depthLeft - 1);
}

const needsNoEscape = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/;

function quote(text: string): string {
  if (needsNoEscape.test(text)) return '"' + text + '"';
  return text.isWellFormed() ? JSON.stringify(text) : refuse("lone-surrogate");
}

/**
 * Engines join strings lazily; for a long array a tree of a million joints costs more to collect and to flatten at the end than
 * copies on the way do. A piece longer than this, in UTF-16 units, is left as it is, so that nothing is copied once per level.
 */
const CHUNK_UNITS = 8192;

function writeArray(items: readonly unknown[], depthLeft: number): string {
  let done = "";
  let text = "";
  let i = 0;
  try {
    for (; i < items.length; i++) {
      const item = write(items[i], depthLeft);
      text += i > 0 ? "," + item : item;
      if (text.length > CHUNK_UNITS) {
        // Reading a unit makes an engine lay out the joined string in one piece; the condition keeps the reading alive.
        if (item.length > CHUNK_UNITS || text.charCodeAt(0) > 0) done += text;
        text = "";
      }
    }
  } catch (error) {
    throw passing(error, items, `${i}`);
  }
  return "[" + done + text + "]";
}

function writeObject(object: Fields, depthLeft: number): string {
  let text = "";
  let key: string | undefined;
  try {
    const { sorted, labels } = shapeOf(Object.keys(object));
    for (let i = 0; i < sorted.length; i++) {
      key = sorted[i]!;
      text += labels[i]! + write(object[key], depthLeft);
    }
  } catch (error) {
    throw passing(error, object, key);
  }
  return "{" + text + "}";
}

/** A list of keys as `Object.keys` gave it, and what to write for it. */
interface Shape {
  readonly keys: readonly string[];
  readonly sorted: readonly string[];
  /** `"key":` for the first of the sorted keys, `,"key":` for the others. */
  readonly labels: readonly string[];
}

/** Real data repeats few shapes. Long ones are not kept and all are dropped when there are many: at most some 4 MB of keys. */
const shapes: Map<number, Shape> = new Map();
const SHAPES = 1024;
const SHAPE_UNITS = 512;

function shapeOf(keys: readonly string[]): Shape {
  let units = 0;
  let hash = 0;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!;
    units += key.length;
    hash = (hash * 31 + key.length + key.charCodeAt(0)) | 0;
  }
  const known = shapes.get(hash);
  if (known && known.keys.length === keys.length && keys.every((key, i) => key === known.keys[i])) return known;
  const sorted = keys.toSorted();
  const shape = { keys, sorted, labels: sorted.map((key, i) => `${i > 0 ? "," : ""}${quote(key)}:`) };
  if (units < SHAPE_UNITS) {
    if (shapes.size === SHAPES) shapes.clear();
    shapes.set(hash, shape);
  }
  return shape;
}
