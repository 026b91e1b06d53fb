import { invalid, type Keywords } from "../context.ts";
import { isObject } from "../equal.ts";
import type { Check } from "../types.ts";
import { ALWAYS, BOOLEAN, call, INTEGER, NUMBER, type Op, passes, STRING, type Unit } from "../unit.ts";

const BIT: ReadonlyMap<unknown, number> = new Map([
  ["null", 1],
  ["boolean", 2],
  ["number", 12],
  ["integer", 8],
  ["string", 16],
  ["array", 32],
  ["object", 64],
]);
export const ANY_TYPE = 127;
const ONE_OR_MORE_TYPES = "a JSON type or an array of one or more of them";

/** The set of types that a schema allows, as bits; a number that is no integer is bit 4. */
export function typeMask(place: Keywords): number {
  let mask = 0;
  const { type } = place.schema;
  for (const name of Array.isArray(type) ? (type as unknown[]) : [type]) {
    const bit = BIT.get(name);
    if (bit === undefined) throw invalid(place, "type", ONE_OR_MORE_TYPES);
    mask |= bit;
  }
  if (mask === 0) throw invalid(place, "type", ONE_OR_MORE_TYPES);
  return mask;
}

/** What is asked of numbers or of strings: bounds, of the value or of its length, and what else there is. */
export interface Scalar {
  readonly lo: number;
  readonly hi: number;
  readonly more: Check | undefined;
}

/** Undefined where nothing is asked. */
export const asScalar = (lo: number = -Infinity, hi: number = Infinity, more?: Check): Scalar | undefined =>
  lo === -Infinity && hi === Infinity && more === undefined ? undefined : { lo, hi, more };

function scalar(op: Op, { lo, hi, more }: Scalar): Unit {
  const unit: Unit = { op, lo, hi, check: (value) => passes(unit, value) };
  return more === undefined ? unit : call((value) => passes(unit, value) && more(value));
}

const ANY_SCALAR: Scalar = { lo: -Infinity, hi: Infinity, more: undefined };
/** A length is an integer, and stays one. */
const ANY_STRING: Scalar = { lo: 0, hi: Infinity, more: undefined };

/** Checks that only apply to one type; specialised for the single types, the rest goes through one switch. */
export function typed(mask: number, number?: Scalar, string?: Scalar, array?: Check, object?: Check): Unit {
  switch (mask) {
    case 1:
      return call((value) => value === null);
    case 2:
      return scalar(BOOLEAN, ANY_SCALAR);
    case 8:
      return scalar(INTEGER, number ?? ANY_SCALAR);
    case 12:
      return scalar(NUMBER, number ?? ANY_SCALAR);
    case 16:
      return scalar(STRING, string ?? ANY_STRING);
    case 32:
      return call(array === undefined ? Array.isArray : (value) => Array.isArray(value) && array(value));
    case 64:
      return call(
        object === undefined
          ? isObject
          : (value) => typeof value === "object" && value !== null && !Array.isArray(value) && object(value),
      );
    case ANY_TYPE:
      if (number === undefined && string === undefined && array === undefined && object === undefined) return ALWAYS;
  }
  const isNumber = scalar(NUMBER, number ?? ANY_SCALAR).check;
  const isString = scalar(STRING, string ?? ANY_STRING).check;
  return call((value) => {
    switch (typeof value) {
      case "string":
        return (mask & 16) !== 0 && isString(value);
      case "number":
        return (mask & (Number.isInteger(value) ? 8 : 4)) !== 0 && isNumber(value);
      case "boolean":
        return (mask & 2) !== 0;
      case "object":
        if (value === null) return (mask & 1) !== 0;
        if (Array.isArray(value)) return (mask & 32) !== 0 && (array === undefined || array(value));
        return (mask & 64) !== 0 && (object === undefined || object(value));
      default:
        return false;
    }
  });
}
