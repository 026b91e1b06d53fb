import { type NormalizeError, type NormalizeReason, normalizeError } from "./error.ts";
import type { JsonValue } from "./json.ts";
import { isPlain } from "./plain.ts";

/** What a foreign value may weigh. A limit of `n` accepts `n` and refuses `n + 1`. */
export interface SnapshotLimits {
  /** Arrays and objects within each other. Default 64. */
  readonly maxDepth?: number;
  /** Values of any kind, the root included; a value that is referenced twice counts twice. Default 1,000,000. */
  readonly maxNodes?: number;
  /** All keys and strings together, in UTF-16 units. Default 16,777,216. */
  readonly maxStringUnits?: number;
}

/** Deeper data is a mistake or an attack; a million nodes is some 100 MB of memory; 16 Mi units is what an isolate may send at once. */
export const SNAPSHOT_LIMITS: Required<SnapshotLimits> = {
  maxDepth: 64,
  maxNodes: 1_000_000,
  maxStringUnits: 16_777_216,
};

export type SnapshotResult =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly error: NormalizeError };

/**
 * An independent copy of a foreign value of the same realm, made of plain objects and arrays: what is checked later is what is used
 * later. Every property is read once, no getter runs, nothing is written to the value, and no input makes it throw.
 *
 * Taken over: own enumerable string keys of plain objects, and dense arrays. A property that is `undefined` is absent; `-0` becomes
 * `0`. Refused, with the path: accessors, symbol keys, an own key `__proto__`, class instances, holes and other keys of an array,
 * `undefined` anywhere else, functions, symbols, BigInt, NaN and the infinities, lone surrogates, cycles, proxies whose traps throw,
 * and whatever goes beyond the limits.
 *
 * @example
 * const taken = snapshot(input, { maxDepth: 8 });
 * if (!taken.ok) taken.error; // { reason: "accessor", path: "/url", message: 'accessor at "/url"' }
 */
export function snapshot(value: unknown, limits: SnapshotLimits = {}): SnapshotResult {
  return attempt(value, limits, copy);
}

/**
 * The value of a JSON text (RFC 8259) under the same checks, for text from an isolate or from the network. Of two equal keys the last
 * one counts, as for `JSON.parse`.
 *
 * @example
 * const parsed = parseJson(text);
 * if (!parsed.ok) parsed.error; // { reason: "syntax", path: "", message: 'syntax at ""' }
 */
export function parseJson(text: string, limits: SnapshotLimits = {}): SnapshotResult {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // Engines differ in how deep they parse; none of them gets to the end of its stack within sensible limits.
    return { ok: false, error: normalizeError(error instanceof SyntaxError ? "syntax" : "too-deep", []) };
  }
  return attempt(value, limits, adopt);
}

/** How the content of an array or object is taken over, once it is known to be neither too deep nor part of a cycle. */
type Take = (value: object, walk: Walk) => JsonValue;

interface Walk {
  readonly take: Take;
  readonly maxDepth: number;
  nodesLeft: number;
  unitsLeft: number;
  /** The arrays and objects that enclose the place of the walk. */
  readonly enclosing: object[];
  /** The path to the place of the walk; a refusal leaves it as it is. */
  readonly tokens: (string | number)[];
}

/** Thrown and caught inside this file only. */
class Refusal {
  readonly reason: NormalizeReason;
  constructor(reason: NormalizeReason) {
    this.reason = reason;
  }
}

function attempt(value: unknown, limits: SnapshotLimits, take: Take): SnapshotResult {
  const walk: Walk = {
    take,
    maxDepth: limits.maxDepth ?? SNAPSHOT_LIMITS.maxDepth,
    nodesLeft: limits.maxNodes ?? SNAPSHOT_LIMITS.maxNodes,
    unitsLeft: limits.maxStringUnits ?? SNAPSHOT_LIMITS.maxStringUnits,
    enclosing: [],
    tokens: [],
  };
  try {
    return { ok: true, value: visit(value, walk) };
  } catch (error) {
    return { ok: false, error: normalizeError(reasonOf(error), walk.tokens) };
  }
}

/** What is not ours was thrown by a trap of a proxy, or by an engine whose stack is at its end. */
function reasonOf(error: unknown): NormalizeReason {
  try {
    if (error instanceof Refusal) return error.reason;
    return error instanceof RangeError ? "too-deep" : "unreadable";
  } catch {
    return "unreadable"; // a proxy was thrown, and `instanceof` ran into its trap
  }
}

function visit(value: unknown, walk: Walk): JsonValue {
  if (--walk.nodesLeft < 0) throw new Refusal("too-large");
  if (typeof value === "string") return checkText(value, walk);
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new Refusal("not-finite");
    return value + 0; // -0 + 0 is 0
  }
  if (typeof value === "boolean" || value === null) return value;
  if (typeof value !== "object") throw new Refusal(typeof value as "bigint" | "function" | "symbol" | "undefined");
  if (walk.enclosing.includes(value)) throw new Refusal("cycle");
  if (walk.enclosing.length >= walk.maxDepth) throw new Refusal("too-deep");
  walk.enclosing.push(value);
  const taken = walk.take(value, walk);
  walk.enclosing.pop();
  return taken;
}

function visitAt(token: string | number, value: unknown, walk: Walk): JsonValue {
  walk.tokens.push(token);
  const taken = visit(value, walk);
  walk.tokens.pop();
  return taken;
}

function checkText(text: string, walk: Walk): string {
  walk.unitsLeft -= text.length;
  if (walk.unitsLeft < 0) throw new Refusal("too-large");
  if (!text.isWellFormed()) throw new Refusal("lone-surrogate");
  return text;
}

function checkKey(key: string, walk: Walk): void {
  walk.tokens.push(key);
  if (key === "__proto__") throw new Refusal("proto-key");
  checkText(key, walk);
  walk.tokens.pop();
}

/** Everything is read through descriptors: they run no getter, and a property can be read only once. */
const { getOwnPropertyDescriptor, defineProperty } = Object;

function copy(value: object, walk: Walk): JsonValue {
  if (!isPlain(value)) throw new Refusal("not-plain");
  return Array.isArray(value) ? copyArray(value, walk) : copyObject(value, walk);
}

function copyArray(items: readonly unknown[], walk: Walk): JsonValue {
  // A proxy may answer with any length; it ends at the first index that it does not have, or at the limit of nodes.
  const length: unknown = getOwnPropertyDescriptor(items, "length")?.value;
  if (typeof length !== "number") throw new Refusal("not-plain");
  if (length > walk.nodesLeft) throw new Refusal("too-large");
  if (Reflect.ownKeys(items).length > length + 1) throw new Refusal("not-plain");
  const copied: JsonValue[] = [];
  for (let i = 0; i < length; i++) copied.push(visitAt(i, readOwn(items, i, walk), walk));
  return copied;
}

function copyObject(object: object, walk: Walk): JsonValue {
  const copied: Record<string, JsonValue> = {};
  for (const key of Reflect.ownKeys(object)) {
    if (typeof key === "symbol") throw new Refusal("symbol");
    const value = readOwn(object, key, walk);
    if (value === undefined) continue;
    checkKey(key, walk);
    const taken = visitAt(key, value, walk);
    // An assignment would run a setter of Object.prototype, and fail where that is frozen.
    if (key in Object.prototype)
      defineProperty(copied, key, { value: taken, writable: true, enumerable: true, configurable: true });
    else copied[key] = taken;
  }
  return copied;
}

/** The value of an own enumerable data property; `undefined` where there is none. */
function readOwn(object: object, key: string | number, walk: Walk): unknown {
  const descriptor = getOwnPropertyDescriptor(object, key);
  if (!descriptor?.enumerable) return undefined;
  if (descriptor.get !== undefined || descriptor.set !== undefined) {
    walk.tokens.push(key);
    throw new Refusal("accessor");
  }
  return descriptor.value;
}

/** For what `JSON.parse` has just made: nobody else holds it and it has no surprises, so it is checked and corrected in place. */
function adopt(value: object, walk: Walk): JsonValue {
  if (Array.isArray(value)) {
    const items = value as JsonValue[];
    for (let i = 0; i < items.length; i++) items[i] = visitAt(i, items[i], walk);
    return items;
  }
  const fields = value as Record<string, JsonValue>;
  for (const key of Object.keys(fields)) {
    checkKey(key, walk);
    const taken = visitAt(key, fields[key], walk);
    if (taken === 0) fields[key] = taken;
  }
  return fields;
}
