/**
 * Fuel and call depth share one 64-bit number, so that counting both costs one subtraction per activation.
 *
 * - bits 15 to 63: the remaining fuel, signed; below zero is out of fuel
 * - bit 14: set when the calls nest too deeply
 * - bits 0 to 13: call depth, in units of 32 estimated bytes of the engine's stack
 */
export const DEPTH_BITS = 15;
export const DEPTH_MASK: number = 2 ** DEPTH_BITS - 1;
/** Bits 63 and 14, either of which ends a run, as a signed LEB128. One mask is faster than two comparisons. */
export const EXHAUSTED_LEB: readonly number[] = [0x80, 0x80, 0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f];
const DEPTH_UNITS = 2 ** (DEPTH_BITS - 1);

/** Estimated bytes of stack that one unit of depth stands for. */
export const UNIT_BYTES = 32;
/** The deepest call stack that can be counted, in estimated bytes: half of what the smallest engine has. */
export const MAX_STACK_BYTES: number = (DEPTH_UNITS - 1) * UNIT_BYTES;
/** More fuel than this cannot be held: at a billion a second it lasts for a day and a half. */
export const MAX_FUEL: number = 2 ** 47 - 1;

export function packed(fuel: number, units: number): number {
  return fuel * 2 ** DEPTH_BITS + units;
}

/** The value at the start of a run. */
export function initialFuel(fuel: number, stackBytes: number = MAX_STACK_BYTES): bigint {
  const units = Math.floor(Math.min(stackBytes, MAX_STACK_BYTES) / UNIT_BYTES);
  return (BigInt(Math.min(fuel, MAX_FUEL)) << BigInt(DEPTH_BITS)) + BigInt(DEPTH_UNITS - 1 - units);
}

/** More fuel in the middle of a run: the calls that are open stay counted. */
export function addFuel(fuelGlobal: bigint, fuel: number): bigint {
  return fuelGlobal + (BigInt(fuel) << BigInt(DEPTH_BITS));
}

export interface FuelState {
  /** The fuel that is left; below zero by the excess of the last segment. */
  readonly fuel: number;
  readonly state: "running" | "out-of-fuel" | "too-deep";
}

export function readFuel(fuelGlobal: bigint): FuelState {
  const fuel = Number(fuelGlobal >> BigInt(DEPTH_BITS));
  if (fuel < 0) return { fuel, state: "out-of-fuel" };
  return { fuel, state: Number(fuelGlobal & BigInt(DEPTH_MASK)) >= DEPTH_UNITS ? "too-deep" : "running" };
}
