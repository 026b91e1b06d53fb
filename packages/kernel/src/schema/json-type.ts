// The types of JSON as bits; a number that is no integer is FRACTIONS.
export const NULLS = 1;
export const BOOLEANS = 2;
export const FRACTIONS = 4;
export const INTEGERS = 8;
export const STRINGS = 16;
export const ARRAYS = 32;
export const OBJECTS = 64;
export const ANY_TYPE = 127;

/** The type of a value; 0 for what JSON cannot carry. */
export function typeOf(value: unknown): number {
  switch (typeof value) {
    case "string":
      return STRINGS;
    case "number":
      return Number.isInteger(value) ? INTEGERS : Number.isFinite(value) ? FRACTIONS : 0;
    case "boolean":
      return BOOLEANS;
    case "object":
      return value === null ? NULLS : Array.isArray(value) ? ARRAYS : OBJECTS;
    default:
      return 0;
  }
}
