import { spend } from "./budget.ts";

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
export function isLengthWithin(text: string, lo: number, hi: number): boolean {
  const units = text.length;
  if (units < lo || units > 2 * hi) return false;
  if (units <= hi && units >= 2 * lo) return true;
  const length = codePoints(text);
  return length >= lo && length <= hi;
}
