import {
  type NormalizeError,
  normalizeError,
  type NormalizeReason,
  passUp,
  refusalAt,
  type WayUp,
} from "./normalize-error.ts";
import type { JsonValue } from "./json.ts";
import { jsonExcess } from "./json-excess.ts";
import { SNAPSHOT_LIMITS, type SnapshotLimits } from "./snapshot-limits.ts";
import { isPlainObject } from "./is-plain-object.ts";
import { sortKeys } from "./sort-keys.ts";

export type SnapshotResult =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly error: NormalizeError };

/**
 * An independent copy of an untrusted value of the same realm, made of plain objects and arrays. So
 * later code uses exactly the checked value. Every property is read once, no getter runs, nothing
 * is written to the value, and no input makes it throw.
 *
 * Taken over: own enumerable string keys of plain objects, and dense arrays. A property that is
 * `undefined` is absent; `-0` becomes `0`. Refused, with the path: accessors, symbol keys, an own
 * key `__proto__`, class instances, holes and other keys of an array, and `undefined` anywhere
 * else. Also refused: functions, symbols, BigInt, NaN, infinities, lone surrogates, cycles, proxies
 * whose traps throw, and values beyond the limits.
 *
 * @example
 * const taken = snapshot(input, { maxDepth: 8 });
 * if (!taken.ok) taken.error; // { reason: "accessor", path: "/url", message: 'accessor at "/url"' }
 */
export function snapshot(value: unknown, limits: SnapshotLimits = {}): SnapshotResult {
  return resultOf(attempt(value, limits, copy));
}

/** {@link snapshot} of what is handed on and not kept: a lone surrogate stays in its text, and a getter is called, once. */
export function snapshotLoosely(value: unknown, limits: SnapshotLimits): SnapshotResult {
  return resultOf(attempt(value, limits, copy, { isLoose: true }));
}

/** {@link snapshot} of a schema, which may say something of a member `__proto__`: in the copy it is data. */
export function snapshotOfSchema(value: unknown, limits: SnapshotLimits): SnapshotResult {
  return resultOf(attempt(value, limits, copy, { keepsProto: true }));
}

/** The facts about a plain value. */
export type Taken =
  | {
      readonly ok: true;
      readonly value: JsonValue;
      /** Whether all keys are in canonical order, so that the engine's own writer gives the canonical text. */
      readonly isOrdered: boolean;
      /** How many values it has, itself included. */
      readonly nodes: number;
    }
  | { readonly ok: false; readonly error: NormalizeError };

/**
 * {@link snapshot} with the keys in canonical order, except that engines put integer keys first.
 */
export function snapshotInOrder(value: unknown, limits: SnapshotLimits): Taken {
  return attempt(value, limits, copy, { sorts: true });
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
  return resultOf(takeJson(text, limits));
}

/** {@link parseJson}, and whether the text had its keys in canonical order. */
export function takeJson(text: string, limits: SnapshotLimits): Taken {
  const all = { ...SNAPSHOT_LIMITS, ...limits };
  // A value takes at least two characters, a member four: a shorter text cannot hold too many.
  const canExceed = text.length >= Math.min(all.maxNodes * 2, all.maxMembers * 4);
  const excess = canExceed ? jsonExcess(text, all) : undefined;
  if (excess) return { ok: false, error: normalizeError(excess, []) };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // Engines differ in how deep they parse; none of them gets to the end of its stack within sensible limits.
    return { ok: false, error: normalizeError(error instanceof SyntaxError ? "syntax" : "too-deep", []) };
  }
  return attempt(value, limits, adopt);
}

function resultOf(taken: Taken): SnapshotResult {
  return taken.ok ? { ok: true, value: taken.value } : taken;
}

/** How the content of an array or object is taken over, once it is known not to be too deep. */
type Take = (value: object, walk: Walk, depthLeft: number) => JsonValue;

interface How {
  readonly isLoose?: boolean;
  readonly keepsProto?: boolean;
  readonly sorts?: boolean;
}

interface Walk extends WayUp, How {
  readonly take: Take;
  nodesLeft: number;
  membersLeft: number;
  unitsLeft: number;
  isOrdered: boolean;
}

/** Thrown and caught inside this file only. */
class SnapshotRefusal {
  readonly reason: NormalizeReason;
  constructor(reason: NormalizeReason) {
    this.reason = reason;
  }
}

function attempt(value: unknown, limits: SnapshotLimits, take: Take, how: How = {}): Taken {
  const { maxDepth, maxNodes, maxMembers, maxStringUnits } = { ...SNAPSHOT_LIMITS, ...limits };
  const walk: Walk = {
    ...how,
    take,
    nodesLeft: maxNodes,
    membersLeft: maxMembers,
    unitsLeft: maxStringUnits,
    isOrdered: true,
    path: [],
    containers: [],
  };
  try {
    const plain = visit(value, walk, maxDepth);
    return { ok: true, value: plain, isOrdered: walk.isOrdered, nodes: maxNodes - walk.nodesLeft };
  } catch (error) {
    return { ok: false, error: refusalAt(walk, reasonOf(error)) };
  }
}

/**
 * The reason of an error. Another error comes from a trap of a proxy, or from an engine at the end
 * of its stack.
 */
function reasonOf(error: unknown): NormalizeReason {
  try {
    if (error instanceof SnapshotRefusal) return error.reason;
    return error instanceof RangeError ? "too-deep" : "unreadable";
  } catch {
    return "unreadable"; // a proxy was thrown, and `instanceof` ran into its trap
  }
}

function visit(value: unknown, walk: Walk, depthLeft: number): JsonValue {
  if (--walk.nodesLeft < 0) throw new SnapshotRefusal("too-large");
  if (typeof value === "string") return checkText(value, walk);
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new SnapshotRefusal("not-finite");
    return value + 0; // -0 + 0 is 0
  }
  if (typeof value === "boolean" || value === null) return value;
  if (typeof value !== "object")
    throw new SnapshotRefusal(typeof value as "bigint" | "function" | "symbol" | "undefined");
  if (depthLeft < 1) throw new SnapshotRefusal("too-deep");
  return walk.take(value, walk, depthLeft - 1);
}

/** Before anything is done with them. */
function countMembers({ length }: readonly unknown[], walk: Walk): void {
  walk.membersLeft -= length;
  if (walk.membersLeft < 0) throw new SnapshotRefusal("too-large");
}

function checkText(text: string, walk: Walk): string {
  walk.unitsLeft -= text.length;
  if (walk.unitsLeft < 0) throw new SnapshotRefusal("too-large");
  if (!text.isWellFormed() && !walk.isLoose) throw new SnapshotRefusal("lone-surrogate");
  return text;
}

function checkKey(key: string, before: string | undefined, walk: Walk): void {
  if (key === "__proto__" && !walk.keepsProto) throw new SnapshotRefusal("proto-key");
  checkText(key, walk);
  if (before !== undefined && key < before) walk.isOrdered = false;
}

/** The function reads only descriptors: they run no getter, and a property can be read only once. Engines list names from the shape of an object, and all keys only slowly. */
const { getOwnPropertyDescriptor, getOwnPropertyNames, getOwnPropertySymbols, defineProperty } = Object;

function copy(value: object, walk: Walk, depthLeft: number): JsonValue {
  if (!isPlainObject(value)) throw new SnapshotRefusal("not-plain");
  return Array.isArray(value) ? copyArray(value, walk, depthLeft) : copyObject(value, walk, depthLeft);
}

function copyArray(items: readonly unknown[], walk: Walk, depthLeft: number): JsonValue {
  // A proxy may answer with any length; it ends at the first index that it does not have, or at the limit of nodes.
  const length: unknown = getOwnPropertyDescriptor(items, "length")?.value;
  if (typeof length !== "number") throw new SnapshotRefusal("not-plain");
  if (length > walk.nodesLeft) throw new SnapshotRefusal("too-large");
  if (Reflect.ownKeys(items).length > length + 1) throw new SnapshotRefusal("not-plain");
  const copied: JsonValue[] = [];
  let place: number | undefined;
  try {
    for (let i = 0; i < length; i++) {
      place = undefined;
      const descriptor = getOwnPropertyDescriptor(items, i);
      place = i;
      copied.push(visit(dataOf(descriptor, items, walk), walk, depthLeft));
    }
    return copied;
  } catch (error) {
    return passUp(error, walk, items, place);
  }
}

function copyObject(object: object, walk: Walk, depthLeft: number): JsonValue {
  const keys = getOwnPropertyNames(object);
  countMembers(keys, walk);
  if (getOwnPropertySymbols(object).length > 0) throw new SnapshotRefusal("symbol");
  if (walk.sorts) sortKeys(keys);
  const copied: Record<string, JsonValue> = {};
  let place: string | undefined;
  let before: string | undefined;
  try {
    for (const key of keys) {
      place = undefined;
      const descriptor = getOwnPropertyDescriptor(object, key);
      place = key;
      const value = dataOf(descriptor, object, walk);
      if (value === undefined) continue;
      checkKey(key, before, walk);
      // Engines put keys that are integers first, and by their value.
      if (key < ":" && key >= "0") walk.isOrdered = false;
      before = key;
      const taken = visit(value, walk, depthLeft);
      // An assignment would run a setter of Object.prototype, and fail where that is frozen.
      if (key in Object.prototype)
        defineProperty(copied, key, { value: taken, writable: true, enumerable: true, configurable: true });
      else copied[key] = taken;
    }
    return copied;
  } catch (error) {
    return passUp(error, walk, object, place);
  }
}

/** The value of an own enumerable data property; `undefined` where there is none. */
function dataOf(descriptor: PropertyDescriptor | undefined, object: object, { isLoose }: Walk): unknown {
  if (!descriptor?.enumerable) return undefined;
  if (descriptor.get ?? descriptor.set) {
    if (!isLoose) throw new SnapshotRefusal("accessor");
    const given: unknown = descriptor.get?.call(object);
    return given;
  }
  return descriptor.value;
}

/**
 * Checks and corrects a fresh result of `JSON.parse` in place: it has no other owner and no
 * getters.
 */
function adopt(value: object, walk: Walk, depthLeft: number): JsonValue {
  let place: string | number | undefined;
  try {
    if (Array.isArray(value)) {
      const items = value as JsonValue[];
      for (let i = 0; i < items.length; i++) items[i] = visit(items[(place = i)], walk, depthLeft);
      return items;
    }
    const fields = value as Record<string, JsonValue>;
    let before: string | undefined;
    for (const key in fields) {
      if (!Object.hasOwn(fields, key)) continue;
      if (--walk.membersLeft < 0) throw new SnapshotRefusal("too-large");
      place = key;
      checkKey(key, before, walk);
      before = key;
      const taken = visit(fields[key], walk, depthLeft);
      if (taken === 0) fields[key] = taken;
    }
    return fields;
  } catch (error) {
    return passUp(error, walk, value, place);
  }
}
