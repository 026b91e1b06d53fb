import { isObject } from "./equal.ts";
import type { Limits } from "./limits.ts";
import { EXHAUSTED, Refusal } from "./refusal.ts";
import type { Anchored, Resource, Resources } from "./resources.ts";
import type { Check, Idna, JsonObject } from "./types.ts";

/** What an object's property loop can decide without calling the unit's check. */
export const CALL = 0;
export const ANY = 1;
export const STRING = 2;
export const INTEGER = 3;
export const NUMBER = 4;
export const BOOLEAN = 5;
export type Op = typeof CALL | typeof ANY | typeof STRING | typeof INTEGER | typeof NUMBER | typeof BOOLEAN;

/** One compiled subschema. `op` with its bounds `lo..hi` means the same as `check`, for callers that inline it. */
export interface Unit {
  readonly check: Check;
  readonly op: Op;
  readonly lo: number;
  readonly hi: number;
}

/** `$dynamicAnchor` name → the outermost subschema that carries it, on the way that led here. */
export type Scope = ReadonlyMap<string, Anchored & { readonly resource: Resource }>;

/** Where a subschema is being compiled: its resource, the dynamic scope, and the path for error messages. */
export interface Place {
  readonly resource: Resource;
  readonly scope: Scope;
  readonly path: string;
}

/** What one check may still spend. One per validator: a check runs to its end before the next begins. */
export class Budget {
  readonly limits: Limits;
  steps = 0;
  depth = 0;

  constructor(limits: Limits) {
    this.limits = limits;
  }

  reset(): void {
    this.steps = this.limits.steps;
    this.depth = this.limits.refDepth;
  }

  spend(steps: number): void {
    if ((this.steps -= steps) < 0) throw EXHAUSTED;
  }

  /** For checks of one whole value: large ones cost more, so that many subschemas cannot go over them many times. */
  spendOn(value: unknown, checks: number): void {
    let weight = 1;
    if (typeof value === "string") weight += value.length >> 8;
    else if (Array.isArray(value)) weight += value.length;
    else {
      let members = 0;
      for (const _ in value as object) members++;
      // Engines keep large objects in tables, and list those anew for every walk.
      if (members > 16) weight += members > 1_000 ? members * 8 : members;
    }
    this.spend(checks * weight);
  }
}

/** What keyword compilers ask of the compiler. */
export interface Context {
  readonly resources: Resources;
  readonly budget: Budget;
  readonly trusted: boolean;
  readonly assertFormats: boolean;
  readonly idna: Idna | undefined;
  /** The check of a schema, compiled when it is first asked for; for those who look at a value again. */
  check(schema: unknown, place: Place): Check;
  /** A compiled pattern, once for each source. */
  pattern(source: string, path: string): (text: string) => boolean;
  /** Compiles a subschema that applies to the same value: it consumes no input. */
  inPlace(schema: unknown, place: Place): Unit;
  /** Compiles a subschema that applies to a part of the value. */
  child(schema: unknown, place: Place): Unit;
  /** The place of a subschema, which may begin a resource of its own. */
  locate(schema: unknown, place: Place): Place;
  /** The subschema behind `$ref` or `$dynamicRef`, with the scope that holds there. */
  follow(reference: unknown, dynamic: boolean, place: Place): { readonly schema: unknown; readonly place: Place };
}

export const at = (place: Place, step: string): Place => ({
  resource: place.resource,
  scope: place.scope,
  path: `${place.path}/${step}`,
});

export const call = (check: Check): Unit => ({ check, op: CALL, lo: 0, hi: 0 });
export const ALWAYS: Unit = { check: () => true, op: ANY, lo: 0, hi: 0 };
export const NEVER: Unit = call(() => false);

export function invalid(place: Place, keyword: string, expected: string): Refusal {
  return new Refusal("KEYWORD_INVALID", `The keyword ${keyword} must be ${expected}.`, `${place.path}/${keyword}`);
}

/** A keyword of the validation vocabulary that counts: a non-negative integer; `2.0` is one. */
export function count(schema: JsonObject, keyword: string, place: Place, missing: number): number {
  const value = schema[keyword];
  if (value === undefined || !place.resource.dialect.validation) return missing;
  if (!Number.isInteger(value) || (value as number) < 0) throw invalid(place, keyword, "a non-negative integer");
  return value as number;
}

export function numeric(schema: JsonObject, keyword: string, place: Place, missing: number): number {
  const value = schema[keyword];
  if (value === undefined) return missing;
  if (typeof value !== "number") throw invalid(place, keyword, "a number");
  return value;
}

/** Names in an array without repeats. */
export function names(value: unknown, keyword: string, place: Place): readonly string[] {
  if (!Array.isArray(value) || !value.every((name) => typeof name === "string"))
    throw invalid(place, keyword, "an array of strings");
  return value;
}

export function schemaMap(schema: JsonObject, keyword: string, place: Place): JsonObject | undefined {
  const value = schema[keyword];
  if (value === undefined) return undefined;
  if (!isObject(value)) throw invalid(place, keyword, "an object of schemas");
  return value;
}

export function schemaList(schema: JsonObject, keyword: string, place: Place): readonly unknown[] {
  const value = schema[keyword];
  if (!Array.isArray(value) || value.length === 0) throw invalid(place, keyword, "a non-empty array of schemas");
  return value;
}

/** Both checks; either may be missing. */
export function both(a: Check | undefined, b: Check | undefined): Check | undefined {
  if (a === undefined) return b;
  return b === undefined ? a : (value) => a(value) && b(value);
}

/** Unicode code points, the unit of `minLength` and `maxLength`; a lone surrogate counts as one. */
function codePoints(text: string): number {
  let length = text.length;
  for (let index = 1; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit >= 0xdc00 && unit <= 0xdfff) {
      const before = text.charCodeAt(index - 1);
      if (before >= 0xd800 && before <= 0xdbff) length--;
    }
  }
  return length;
}

/** Counts code points only where UTF-16 units leave it open. */
function lengthWithin(text: string, lo: number, hi: number): boolean {
  const units = text.length;
  if (units < lo || units > 2 * hi) return false;
  if (units <= hi && units >= 2 * lo) return true;
  const length = codePoints(text);
  return length >= lo && length <= hi;
}

/** The unit's check; what its `op` says is decided without a call. */
export function passes(unit: Unit, value: unknown): boolean {
  switch (unit.op) {
    case ANY:
      return true;
    case STRING:
      return typeof value === "string" && lengthWithin(value, unit.lo, unit.hi);
    case INTEGER:
      return Number.isInteger(value) && (value as number) >= unit.lo && (value as number) <= unit.hi;
    case NUMBER:
      return Number.isFinite(value) && (value as number) >= unit.lo && (value as number) <= unit.hi;
    case BOOLEAN:
      return typeof value === "boolean";
    case CALL:
      return unit.check(value);
  }
}
