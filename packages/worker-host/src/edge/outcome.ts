/** `undefined`: it holds. */
export type Outcome = { readonly failed: string } | { readonly skipped: string } | undefined;

export const failed = (reason: string): Outcome => ({ failed: reason });
export const skipped = (reason: string): Outcome => ({ skipped: reason });

/** A fault before a check that could not be made. */
export function firstOf(outcomes: readonly Outcome[]): Outcome {
  return outcomes.find((each) => each !== undefined && "failed" in each) ?? outcomes.find((each) => each !== undefined);
}
