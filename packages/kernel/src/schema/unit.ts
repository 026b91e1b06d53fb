import { spend } from "./budget.ts";
import type { Check } from "./types.ts";

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

export const call = (check: Check): Unit => ({ check, op: CALL, lo: 0, hi: 0 });
export const ALWAYS: Unit = { check: () => true, op: ANY, lo: 0, hi: 0 };
export const NEVER: Unit = call(() => false);

/** Both checks; either may be missing. */
export function both(a: Check | undefined, b: Check | undefined): Check | undefined {
  if (a === undefined) return b;
  return b === undefined ? a : (value) => a(value) && b(value);
}

/** All of the checks, without a loop for the usual few. */
export function all(checks: readonly Check[]): Check | undefined {
  if (checks.length < 3) return both(checks[0], checks[1]);
  return (value) => {
    for (let index = 0; index < checks.length; index++) if (!(checks[index] as Check)(value)) return false;
    return true;
  };
}

/** Unicode code points, the unit of `minLength` and `maxLength`; a lone surrogate counts as one. */
function codePoints(text: string): number {
  let length = text.length;
  spend(length >> 5);
  for (let index = 1; index < text.length; index++) {
    // The second half of a pair, and the first before it.
    if (text.charCodeAt(index) >> 10 === 55 && text.charCodeAt(index - 1) >> 10 === 54) length--;
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
