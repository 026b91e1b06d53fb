import { type NormalizeError, type NormalizeReason, normalizeError } from "./normalize-error.ts";
import { isPlainObject } from "./is-plain-object.ts";

export type CanonicalResult =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly error: NormalizeError };

/**
 * The canonical JSON text of a value (RFC 8785): no whitespace, numbers as ECMAScript prints them, keys ordered by their
 * UTF-16 units. Two values have the same text exactly when they are the same JSON data.
 *
 * Refused, with the path: values that JSON cannot carry (`undefined`, also as a property;
 * functions, symbols, BigInt, NaN, infinities, class instances). Also refused: values that throw
 * when read, text with lone surrogates, cycles, and more than `maxDepth` nested arrays and objects.
 * An own key `__proto__` is data like any other.
 *
 * Getters are called, as by `JSON.stringify`, and the size is not bounded: take a `snapshot` of a foreign value first.
 *
 * @param maxDepth 512 by default: far above real data, far below the end of any engine's stack.
 * @example
 * const result = canonicalize({ b: 1, a: -0 });
 * if (result.ok) result.text; // {"a":0,"b":1}
 */
export function canonicalize(value: unknown, maxDepth: number = 512): CanonicalResult {
  const walk: Walk = { path: [], containers: [], ordered: !("toJSON" in Array.prototype), strict: false };
  try {
    // A copy that has its keys in order goes through the engine's own writer, which is faster than any written here.
    const sorted = copy(value, walk, maxDepth);
    const text = walk.ordered ? JSON.stringify(sorted) : write(sorted);
    // The writer turns lone surrogates into such escapes. Text can contain these characters, too, so the second look decides.
    if (text.includes("\\ud")) {
      walk.strict = true;
      copy(sorted, walk, maxDepth);
    }
    return { ok: true, text };
  } catch {
    return { ok: false, error: explain(walk) };
  }
}

interface Walk {
  /** Both grow while a refusal passes the containers on its way up: a value without fault does not pay for its paths. */
  readonly path: (string | number)[];
  readonly containers: object[];
  /**
   * Set just before the walk itself is thrown. Any other thrown value comes from a getter, a proxy,
   * or the engine at the end of its stack or longest string. It is not read, because a proxy can be
   * thrown, too.
   */
  reason?: NormalizeReason;
  /** Whether the engine writes the copy's properties in canonical order, and arrays as arrays. */
  ordered: boolean;
  /** Whether the value is a copy of ours, of which only the texts are left to check. */
  strict: boolean;
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

type Fields = Record<string, unknown>;

/** Makes objects that inherit nothing, neither a `toJSON` nor a setter. They are faster than objects without a prototype. */
const Bag = function () {} as unknown as { new (): Fields; prototype: unknown };
Bag.prototype = Object.create(null);

function copy(value: unknown, walk: Walk, depthLeft: number): unknown {
  const { strict } = walk;
  if (typeof value === "string") return strict && !value.isWellFormed() ? refuse(walk, "lone-surrogate") : value;
  if (typeof value === "number") return value - value === 0 ? value : refuse(walk, "not-finite");
  if (typeof value === "boolean" || value === null) return value;
  if (typeof value !== "object") refuse(walk, typeof value as "bigint" | "function" | "symbol" | "undefined");
  if (depthLeft < 1) refuse(walk, "too-deep");
  if (!strict && !isPlainObject(value)) refuse(walk, "not-plain");
  let place: string | number | undefined;
  try {
    if (Array.isArray(value)) {
      const items: unknown[] = [];
      for (let i = 0; i < value.length; i++) items.push(copy(value[(place = i)], walk, depthLeft - 1));
      return items;
    }
    const { sorted, ordered } = shapeOf(Object.keys(value));
    if (!ordered) walk.ordered = false;
    const fields = new Bag();
    for (const key of sorted) {
      place = key;
      if (strict) copy(key, walk, 0);
      const field = (value as Fields)[key];
      fields[key] = typeof field === "string" && !strict ? field : copy(field, walk, depthLeft - 1);
    }
    return fields;
  } catch (error) {
    if (place !== undefined) {
      walk.path.unshift(place);
      walk.containers.unshift(value);
    }
    throw error;
  }
}

/** For copies that the engine's writer would not write in canonical order. */
function write(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(write).join()}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const { sorted } = shapeOf(Object.keys(value));
  return `{${sorted.map((key) => `${JSON.stringify(key)}:${write((value as Fields)[key])}`).join()}}`;
}

/** A list of keys as `Object.keys` gave it, and in canonical order. */
interface Shape {
  readonly keys: readonly string[];
  readonly sorted: readonly string[];
  /** Engines put keys that are integers first, and by their value. */
  readonly ordered: boolean;
}

/** Real data repeats few shapes. Long ones are not kept and all are dropped when there are many: a few MB of keys at most. */
const shapes: Map<number, Shape> = /* @__PURE__ */ new Map();
const MAX_SHAPES = 999;
const MAX_SHAPE_UNITS = 512;

function shapeOf(keys: readonly string[]): Shape {
  let hash = 0;
  for (const key of keys) hash = (hash * 31 + key.length + key.charCodeAt(0)) | 0;
  const known = shapes.get(hash);
  if (known && known.keys.length === keys.length && keys.every((key, i) => key === known.keys[i])) return known;
  const sorted = keys.toSorted();
  const shape = { keys, sorted, ordered: !sorted.some((key) => key < ":" && key >= "0") };
  if (keys.join().length < MAX_SHAPE_UNITS) {
    if (shapes.size > MAX_SHAPES) shapes.clear();
    shapes.set(hash, shape);
  }
  return shape;
}
