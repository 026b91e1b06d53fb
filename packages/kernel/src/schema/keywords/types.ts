import { ALWAYS, call, invalid, lengthWithin, BOOLEAN, INTEGER, NUMBER, STRING, type Place, type Unit } from "../context.ts";
import type { Check } from "../types.ts";
import type { NumberChecks } from "./numbers.ts";
import type { StringChecks } from "./strings.ts";

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

/** The set of types that a schema allows, as bits; a number that is no integer is bit 4. */
export function typeMask(type: unknown, place: Place): number {
  if (type === undefined) return ANY_TYPE;
  let mask = 0;
  for (const name of Array.isArray(type) ? type : [type]) {
    const bit = BIT.get(name);
    if (bit === undefined) throw invalid(place, "type", "the name of a JSON type, or an array of such names");
    mask |= bit;
  }
  return mask;
}

/** The checks that only apply to one type; undefined where there is none. */
export interface TypedChecks {
  readonly number: NumberChecks | undefined;
  readonly string: StringChecks | undefined;
  readonly array: Check | undefined;
  readonly object: Check | undefined;
}

function string({ lo, hi, more }: StringChecks): Check {
  const bounded = lo > 0 || hi !== Infinity;
  if (more === undefined) return bounded ? (value) => lengthWithin(value as string, lo, hi) : ALWAYS.check;
  return bounded ? (value) => lengthWithin(value as string, lo, hi) && more(value) : more;
}

function number({ lo, hi, more }: NumberChecks): Check {
  if (more === undefined) return (value) => (value as number) >= lo && (value as number) <= hi;
  return (value) => (value as number) >= lo && (value as number) <= hi && more(value);
}

/** Specialised for the single types; the rest goes through one switch. */
export function typed(mask: number, checks: TypedChecks): Unit {
  const num = checks.number === undefined ? undefined : number(checks.number);
  const str = checks.string === undefined ? undefined : string(checks.string);
  const { array, object } = checks;
  const bounds = (
    of: { readonly lo: number; readonly hi: number; readonly more: Check | undefined } | undefined,
    lo: number,
    op: Unit["op"],
    check: Check,
  ): Unit => (of?.more === undefined ? { check, op, lo: of?.lo ?? lo, hi: of?.hi ?? Infinity } : call(check));
  switch (mask) {
    case 1:
      return call((value) => value === null);
    case 2:
      return { check: (value) => typeof value === "boolean", op: BOOLEAN, lo: 0, hi: 0 };
    case 8:
      return bounds(
        checks.number,
        -Infinity,
        INTEGER,
        num === undefined ? Number.isInteger : (value) => Number.isInteger(value) && num(value),
      );
    case 12:
      return bounds(
        checks.number,
        -Infinity,
        NUMBER,
        num === undefined ? Number.isFinite : (value) => Number.isFinite(value) && num(value),
      );
    case 16:
      return bounds(
        checks.string,
        0,
        STRING,
        str === undefined ? (value) => typeof value === "string" : (value) => typeof value === "string" && str(value),
      );
    case 32:
      return call(array === undefined ? Array.isArray : (value) => Array.isArray(value) && array(value));
    case 64:
      return call(
        object === undefined
          ? (value) => typeof value === "object" && value !== null && !Array.isArray(value)
          : (value) => typeof value === "object" && value !== null && !Array.isArray(value) && object(value),
      );
    case ANY_TYPE:
      if (num === undefined && str === undefined && array === undefined && object === undefined) return ALWAYS;
  }
  return call((value) => {
    switch (typeof value) {
      case "string":
        return (mask & 16) !== 0 && (str === undefined || str(value));
      case "number":
        return (
          (Number.isInteger(value) ? (mask & 8) !== 0 : (mask & 4) !== 0 && Number.isFinite(value)) &&
          (num === undefined || num(value))
        );
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
