import type { Ended } from "./values.ts";

/** Small, so that recursion and loops that do not end are cheap. */
export const limits = { fuel: 20_000, units: 600, pages: 4 } as const;
export const UNIT_BYTES = 32;
/** More than any program uses. */
export const LARGE: number = 10 ** 9;

/** One call of `main` as anybody can see it. */
export interface Observed {
  readonly kind: Ended["kind"];
  readonly value: number | undefined;
  /** Where the call returned, or ended with an exception. */
  readonly fuel: number | undefined;
  readonly units: number | undefined;
  /** FNV-1a over the memory, its size included. */
  readonly memory: number;
}

/** A call of a metered module, and the units of its stack that it did not give back. */
export type Seen = Observed & { readonly openUnits: number };
