/** A set of code points: ranges as flat pairs `lo, hi`, Unicode properties by name, and whether all of that is negated. */
export interface CharSet {
  readonly ranges: readonly number[];
  /** `\p{…}` and `\P{…}` as written; the engine's own Unicode tables decide. */
  readonly properties: readonly string[];
  readonly negated: boolean;
}

export const DIGIT: readonly number[] = [0x30, 0x39];
export const WORD: readonly number[] = [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a];
/** ECMA-262 WhiteSpace and LineTerminator. */
export const SPACE: readonly number[] = [
  0x09, 0x0d, 0x20, 0x20, 0xa0, 0xa0, 0x1680, 0x1680, 0x2000, 0x200a, 0x2028, 0x2029, 0x202f, 0x202f, 0x205f, 0x205f, 0x3000, 0x3000, 0xfeff, 0xfeff,
];
/** What `.` leaves out without the `s` flag. */
export const LINE_END: readonly number[] = [0x0a, 0x0a, 0x0d, 0x0d, 0x2028, 0x2029];

/** The ranges that sorted, disjoint ranges leave out. */
export function complement(ranges: readonly number[]): number[] {
  const out: number[] = [];
  let next = 0;
  for (let index = 0; index < ranges.length; index += 2) {
    if ((ranges[index] as number) > next) out.push(next, (ranges[index] as number) - 1);
    next = (ranges[index + 1] as number) + 1;
  }
  if (next <= 0x10ffff) out.push(next, 0x10ffff);
  return out;
}

/** A membership test that is made once and asked often. */
export function membership({ ranges, properties, negated }: CharSet): (codePoint: number) => boolean {
  const property = properties.length === 0 ? undefined : new RegExp(`[${properties.join("")}]`, "u");
  return (codePoint) => {
    for (let index = 0; index < ranges.length; index += 2) {
      if (codePoint >= (ranges[index] as number) && codePoint <= (ranges[index + 1] as number)) return !negated;
    }
    return (property !== undefined && property.test(String.fromCodePoint(codePoint))) !== negated;
  };
}
