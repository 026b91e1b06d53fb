import { type NormalizeError, type NormalizeReason, passUp, refusalAt, type WayUp } from "./normalize-error.ts";
import { AsciiWriter } from "./ascii-writer.ts";
import { sortKeys } from "./sort-keys.ts";
import { isPlainObject } from "./is-plain-object.ts";

export type CanonicalResult =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly error: NormalizeError };

/**
 * The canonical JSON text of a value (RFC 8785): no whitespace, numbers as ECMAScript prints them, keys ordered by their
 * UTF-16 units. Two values have the same text exactly when they are the same JSON data. A property
 * that is `undefined` is absent, an item is `null` (ECMA-262, 25.5.2).
 *
 * Refused, with the path: values that JSON cannot carry (`undefined` itself, functions,
 * symbols, BigInt, NaN, infinities, class instances). Also refused: values that throw when read, text
 * with lone surrogates, cycles, more than `maxDepth` nested arrays and objects, and more than `maxNodes` values.
 * An own key `__proto__` is data like any other.
 *
 * Getters are called, as by `JSON.stringify`, and texts are not bounded: take a `snapshot` of a foreign value first.
 *
 * @param maxDepth 512 by default: far above real data, far below the end of any engine's stack.
 * @param maxNodes shared parts count as often as they are there: they are small to hold and endless to write
 * @example
 * const result = canonicalize({ b: 1, a: -0 });
 * if (result.ok) result.text; // {"a":0,"b":1}
 */
export function canonicalize(value: unknown, maxDepth: number = 512, maxNodes: number = Infinity): CanonicalResult {
  const walk: Walk = {
    path: [],
    containers: [],
    nodesLeft: maxNodes,
    byHand: "toJSON" in Array.prototype,
    written: 0,
    newShapes: 0,
  };
  try {
    // A copy that has its keys in order goes through the engine's own writer, which is faster than any written here.
    const sorted = copy(value, walk, maxDepth);
    let text: string;
    if (sorted instanceof ByHand) {
      const writer = new AsciiWriter();
      write(sorted, writer);
      text = writer.end();
    } else text = JSON.stringify(sorted);
    // The writer turns lone surrogates into such escapes. Text can contain these characters, too, so the second look decides.
    if (text.includes("\\ud")) checkTexts(sorted, walk);
    return { ok: true, text };
  } catch {
    return { ok: false, error: refusalAt(walk, walk.reason ?? "unreadable") };
  }
}

interface Walk extends WayUp {
  nodesLeft: number;
  /**
   * Set just before the walk itself is thrown. Any other thrown value comes from a getter, a proxy,
   * or the engine at the end of its stack or longest string. It is not read, because a proxy can be
   * thrown, too.
   */
  reason?: NormalizeReason;
  /** Whether the engine's writer is wrong about every container. */
  readonly byHand: boolean;
  /** How many containers are `ByHand` so far. */
  written: number;
  newShapes: number;
}

function refuse(walk: Walk, reason: NormalizeReason): never {
  walk.reason = reason;
  throw walk;
}

type Fields = Record<string, unknown>;

/** Makes objects that inherit nothing, neither a `toJSON` nor a setter. They are faster than objects without a prototype. */
const Bag = function () {} as unknown as { new (): Fields; prototype: unknown };
Bag.prototype = Object.create(null);

/** An object or array that the engine's writer would write slowly, or not in canonical order, or in which there is such a one. */
class ByHand {
  /** Of an object: the keys in canonical order. */
  readonly keys: string[] | undefined;
  readonly values: unknown[];

  constructor(keys: string[] | undefined, values: unknown[], walk: Walk) {
    this.keys = keys;
    this.values = values;
    walk.written++;
  }

  add(key: string, value: unknown): void {
    this.keys?.push(key);
    this.values.push(value);
  }
}

function copy(value: unknown, walk: Walk, depthLeft: number): unknown {
  if (--walk.nodesLeft < 0) refuse(walk, "too-large");
  if (typeof value === "string") return value;
  if (typeof value === "number") return value - value === 0 ? value : refuse(walk, "not-finite");
  if (typeof value === "boolean" || value === null) return value;
  if (typeof value !== "object") refuse(walk, typeof value as "bigint" | "function" | "symbol" | "undefined");
  if (depthLeft < 1) refuse(walk, "too-deep");
  if (!isPlainObject(value)) refuse(walk, "not-plain");
  const { written } = walk;
  let place: string | number | undefined;
  try {
    if (Array.isArray(value)) {
      const items: unknown[] = [];
      for (let i = 0; i < value.length; i++) items.push(copy(value[(place = i)] ?? null, walk, depthLeft - 1));
      return walk.byHand || walk.written !== written ? new ByHand(undefined, items, walk) : items;
    }
    const { sorted, isNative } = shapeOf(Object.keys(value), walk);
    const fields = isNative ? new Bag() : new ByHand([], [], walk);
    for (const key of sorted) {
      place = key;
      const field = (value as Fields)[key];
      if (field === undefined) continue;
      const copied = typeof field === "string" && walk.nodesLeft-- > 0 ? field : copy(field, walk, depthLeft - 1);
      if (fields instanceof ByHand) fields.add(key, copied);
      else fields[key] = copied;
    }
    if (fields instanceof ByHand || (!walk.byHand && walk.written === written)) return fields;
    return new ByHand(Object.keys(fields), Object.values(fields), walk);
  } catch (error) {
    return passUp(error, walk, value, place);
  }
}

/** Refuses lone surrogates in what `copy` gave. */
function checkTexts(value: unknown, walk: Walk): void {
  if (typeof value === "string" && !value.isWellFormed()) refuse(walk, "lone-surrogate");
  if (typeof value !== "object" || value === null) return;
  const isByHand = value instanceof ByHand;
  const keys = isByHand ? value.keys : Array.isArray(value) ? undefined : Object.keys(value);
  const values = isByHand ? value.values : Object.values(value);
  let place: string | number | undefined;
  try {
    for (const [index, each] of values.entries()) {
      place = keys?.[index] ?? index;
      checkTexts(place, walk);
      checkTexts(each, walk);
    }
  } catch (error) {
    passUp(error, walk, value, place);
  }
}

function write(value: unknown, writer: AsciiWriter): void {
  if (!(value instanceof ByHand))
    return typeof value === "string" ? writer.add(value, true) : writer.add(plainText(value));
  const { keys, values } = value;
  writer.add(keys ? "{" : "[");
  for (let i = 0; i < values.length; i++) {
    if (i > 0) writer.add(",");
    if (keys) {
      writer.add(keys[i] as string, true);
      writer.add(":");
    }
    write(values[i], writer);
  }
  writer.add(keys ? "}" : "]");
}

const plainText = (value: unknown): string => (typeof value === "number" ? `${value}` : JSON.stringify(value));

/** A list of keys as `Object.keys` gave it, and in canonical order. */
interface Shape {
  readonly keys: readonly string[];
  readonly sorted: readonly string[];
  /** Whether the engine's writer is fast, and right: it puts keys that are integers first, and by their value. */
  readonly isNative: boolean;
}

/** Real data repeats few shapes. Long ones are not kept and all are dropped when there are many: a few MB of keys at most. */
const shapes: Map<number, Shape> = /* @__PURE__ */ new Map();
const MAX_SHAPES = 999;
const MAX_SHAPE_UNITS = 512;
/** Of one document; more are not worth a class of the engine each. */
const MAX_NEW_SHAPES = 64;
/** Engines keep objects with more keys in tables, which are slow to make. */
const WIDE_KEYS = 128;

function shapeOf(keys: string[], walk: Walk): Shape {
  let hash = 0;
  for (const key of keys) hash = (hash * 31 + key.length + key.charCodeAt(0)) | 0;
  const known = shapes.get(hash);
  if (known?.keys.length === keys.length && keys.every((key, i) => key === known.keys[i])) return known;
  const sorted = keys.slice();
  sortKeys(sorted);
  const isRare = keys.length > WIDE_KEYS || ++walk.newShapes > MAX_NEW_SHAPES;
  const shape = { keys, sorted, isNative: !isRare && !sorted.some((key) => key < ":" && key >= "0") };
  if (!isRare && keys.join().length < MAX_SHAPE_UNITS) {
    if (shapes.size > MAX_SHAPES) shapes.clear();
    shapes.set(hash, shape);
  }
  return shape;
}
