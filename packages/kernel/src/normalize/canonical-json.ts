import { type NormalizeError, type NormalizeReason, normalizeError } from "./error.ts";
import type { JsonValue } from "./json.ts";
import { isPlain } from "./plain.ts";

export type CanonicalResult =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly error: NormalizeError };

/**
 * The canonical JSON text of a value (RFC 8785): no whitespace, numbers as ECMAScript prints them, keys ordered by their
 * UTF-16 units. Two values have the same text exactly when they are the same JSON data.
 *
 * Refused, with the path: what JSON cannot carry (`undefined`, also as a property; functions, symbols, BigInt, NaN and the
 * infinities, class instances), what throws when it is read, text that UTF-8 cannot carry (lone surrogates), cycles, and more than `maxDepth` arrays and
 * objects within each other. An own key `__proto__` is data like any other.
 *
 * Getters are called, as by `JSON.stringify`, and the size is not bounded: take a `snapshot` of a foreign value first.
 *
 * @param maxDepth 512 by default: far above real data, far below the end of any engine's stack.
 * @example
 * const result = canonicalize({ b: 1, a: -0 });
 * if (result.ok) result.text; // {"a":0,"b":1}
 */
export function canonicalize(value: unknown, maxDepth: number = 512): CanonicalResult {
  const walk: Walk = { path: [], containers: [] };
  try {
    return { ok: true, text: write(value, walk, maxDepth) };
  } catch {
    return { ok: false, error: explain(walk) };
  }
}

/**
 * The canonical text of a value that is known to be JSON.
 *
 * @throws TypeError when it is not: a bug in the caller, never bad input.
 */
export function canonicalJson(value: JsonValue): string {
  const result = canonicalize(value);
  if (!result.ok) throw new TypeError(result.error.message);
  return result.text;
}

interface Walk {
  /** Both grow while a refusal passes the containers on its way up: a value without fault does not pay for its paths. */
  readonly path: (string | number)[];
  readonly containers: object[];
  /**
   * Set just before the walk itself is thrown. What else is thrown comes from a getter, a proxy, or the engine, whose stack or longest
   * string is at its end; it is not looked at, because a proxy can be thrown, too.
   */
  reason?: NormalizeReason;
}

function refuse(walk: Walk, reason: NormalizeReason): never {
  walk.reason = reason;
  throw walk;
}

function explain({ path, containers, reason }: Walk): NormalizeError {
  const again = containers.findIndex((container, i) => containers.indexOf(container) < i);
  if (again > 0) return normalizeError("cycle", path.slice(0, again));
  return normalizeError(reason ?? "unreadable", path);
}

const needsNoEscape = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/;

function quote(text: string, walk: Walk): string {
  // In the hot functions strings are added, not put into templates: V8 converts the parts of a template once more.
  if (needsNoEscape.test(text)) return '"' + text + '"';
  return text.isWellFormed() ? JSON.stringify(text) : refuse(walk, "lone-surrogate");
}

/**
 * Engines join strings lazily, and a tree of a million joints costs more to collect and to flatten at the end than copies on the way
 * do. A piece longer than this, in UTF-16 units, is left as it is, so that nothing is copied once per level.
 */
const CHUNK_UNITS = 16_384;

function write(value: unknown, walk: Walk, depthLeft: number): string {
  if (typeof value === "string") return quote(value, walk);
  if (typeof value === "number") return value - value === 0 ? "" + value : refuse(walk, "not-finite");
  if (typeof value === "boolean" || value === null) return "" + value;
  if (typeof value !== "object") return refuse(walk, typeof value as "bigint" | "function" | "symbol" | "undefined");
  if (depthLeft < 1) refuse(walk, "too-deep");
  if (!isPlain(value)) refuse(walk, "not-plain");
  let place: string | number | undefined;
  let done = "";
  let text = "";
  try {
    if (Array.isArray(value)) {
      for (let i = 0; i < value.length; i++) {
        const item = write(value[(place = i)], walk, depthLeft - 1);
        text += i > 0 ? "," + item : item;
        if (text.length <= CHUNK_UNITS) continue;
        // Reading a unit makes an engine lay out the joined string in one piece; the condition keeps the reading alive.
        if (item.length > CHUNK_UNITS || text.charCodeAt(0) > 0) done += text;
        text = "";
      }
      return "[" + done + text + "]";
    }
    const { sorted, labels } = shapeOf(Object.keys(value), (key) => quote((place = key), walk));
    for (let i = 0; i < sorted.length; i++) {
      text += labels[i]! + write((value as Record<string, unknown>)[(place = sorted[i]!)], walk, depthLeft - 1);
    }
    return "{" + text + "}";
  } catch (error) {
    if (place !== undefined) {
      walk.path.unshift(place);
      walk.containers.unshift(value);
    }
    throw error;
  }
}

/** A list of keys as `Object.keys` gave it, and what to write for it: `"key":` for the first of the sorted keys, then `,"key":`. */
interface Shape {
  readonly keys: readonly string[];
  readonly sorted: readonly string[];
  readonly labels: readonly string[];
}

/** Real data repeats few shapes. Long ones are not kept and all are dropped when there are many: a few MB of keys at most. */
const shapes: Map<number, Shape> = /* @__PURE__ */ new Map();
const MAX_SHAPES = 999;
const MAX_SHAPE_UNITS = 512;

function shapeOf(keys: readonly string[], quoteKey: (key: string) => string): Shape {
  let hash = 0;
  for (const key of keys) hash = (hash * 31 + key.length + key.charCodeAt(0)) | 0;
  const known = shapes.get(hash);
  if (known && known.keys.length === keys.length && keys.every((key, i) => key === known.keys[i])) return known;
  const sorted = keys.toSorted();
  const shape = { keys, sorted, labels: sorted.map((key, i) => (i > 0 ? "," : "") + quoteKey(key) + ":") };
  if (keys.join().length < MAX_SHAPE_UNITS) {
    if (shapes.size > MAX_SHAPES) shapes.clear();
    shapes.set(hash, shape);
  }
  return shape;
}
