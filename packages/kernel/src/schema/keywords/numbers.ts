import { spend } from "../budget.ts";
import { invalid, type Keywords, numeric } from "../context.ts";
import { MAX } from "../node.ts";
import type { Check } from "../types.ts";

/** A decimal as JSON writes it: `digits × 10^exponent`. */
function decimal(value: number): { digits: bigint; exponent: number } {
  const [mantissa = "", exponent = "0"] = value.toExponential().split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}

/**
 * Whether `value` is a multiple of the decimal that `divisor` is written as: 0.3 of 0.1 is, and 1e308 of 0.123456789
 * is not. Binary remainders would say otherwise.
 */
function isMultiple(value: number, divisor: number): boolean {
  const a = decimal(value);
  const b = decimal(divisor);
  const shift = a.exponent - b.exponent;
  const scaled = (digits: bigint, by: number): bigint => digits * 10n ** BigInt(Math.max(0, by));
  return scaled(a.digits, shift) % scaled(b.digits, -shift) === 0n;
}

/** Of integers of several hundred digits. */
const STEPS_PER_DIVISION = 64;

function multipleOf(divisor: number): Check {
  const { digits, exponent } = decimal(divisor);
  const scale = 10 ** Math.max(0, -exponent);
  const step = Number(digits) * 10 ** Math.max(0, exponent);
  // Up to 2^53 every product is exact, so that a value with more decimals than the divisor shows by not surviving the round trip.
  const exact = scale <= 1e15 && Number.isSafeInteger(step);
  return (value) => {
    if (typeof value !== "number") return true;
    const scaled = Math.round(value * scale);
    if (exact && scaled <= 1e15 && scaled >= -1e15) return scaled / scale === value && scaled % step === 0;
    spend(STEPS_PER_DIVISION);
    return isMultiple(value, divisor);
  };
}

/** The smallest double above another one. */
function above(value: number): number {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, value === 0 ? 0 : value);
  bits.setBigInt64(0, bits.getBigInt64(0) + (value < 0 ? -1n : 1n));
  return bits.getFloat64(0);
}

/** The demands on a number: inclusive bounds, and a check of the rest. */
export interface Bounds {
  readonly lo: number;
  readonly hi: number;
  readonly test: Check | undefined;
}

export function numbers(place: Keywords): Bounds | undefined {
  const over = numeric(place, "exclusiveMinimum");
  const under = numeric(place, "exclusiveMaximum");
  const divisor = numeric(place, "multipleOf");
  if (divisor !== undefined && divisor <= 0) throw invalid(place, "multipleOf", "a number above 0");
  const lo = Math.max(numeric(place, "minimum") ?? -MAX, over === undefined ? -MAX : above(over));
  const hi = Math.min(numeric(place, "maximum") ?? MAX, under === undefined ? MAX : -above(-under));
  if (lo === -MAX && hi === MAX && divisor === undefined) return undefined;
  return { lo, hi, test: divisor === undefined ? undefined : multipleOf(divisor) };
}
