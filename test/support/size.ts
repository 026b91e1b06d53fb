import { inject } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    /** True under `npm run test:thorough`; set in vitest.config.ts. */
    readonly thorough: boolean;
  }
}

/** True under `npm run test:thorough`, in every project and engine. */
export const thorough: boolean = inject("thorough");

/**
 * The size of a test: `quick` is the smallest one that still finds the faults, `full` is for `npm run test:thorough`.
 *
 * @example
 * await fc.assert(property, { numRuns: sized(100, 5_000) });
 */
export function sized<Size>(quick: Size, full: Size): Size {
  return thorough ? full : quick;
}
