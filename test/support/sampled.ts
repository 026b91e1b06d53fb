import { thorough } from "./size.ts";

/**
 * The indexes below `length` that a test tries: each `every`-th one and the last; all of them under
 * `npm run test:thorough`. An odd `every` meets each bit of a byte where the bit is `index % 8`.
 */
export function* sampled(length: number, every: number): Generator<number, void, undefined> {
  const step = thorough ? 1 : every;
  for (let at = 0; at < length - 1; at += step) yield at;
  if (length > 0) yield length - 1;
}

export const everyBit: readonly number[] = [0, 1, 2, 3, 4, 5, 6, 7];

/** The bits of the byte at `index` that a test flips: one, which differs from byte to byte; all eight under `npm run test:thorough`. */
export function bitsAt(index: number): readonly number[] {
  return thorough ? everyBit : [index % 8];
}
