import { type Dimension, dimensions } from "./dimension.ts";
import type { Draft } from "./draft.ts";
import { type Prepared, sortOf, survives } from "./prepared.ts";

/** One decided dimension of a region: the values of one class. */
export interface Step {
  readonly dimension: Dimension;
  /** The clauses that look at it. */
  readonly clauses: readonly Prepared[];
  /** Which of them can still hold, and, what later dimensions have to know of the value. */
  readonly signature: string;
  /** Some values of the class, as people read them. */
  readonly values: readonly string[];
}

/** The distinctions that clauses make for a value. */
export function signatureOf(
  dimension: Dimension,
  looking: readonly Prepared[],
  gone: ReadonlySet<Prepared>,
  draft: Draft,
): string {
  const left = looking.flatMap((each) => (gone.has(each) ? [] : [each.id])).join();
  const sort = dimension === dimensions.tier ? draft.tier : sortOf(looking, dimension, draft);
  return `${left} ${sort}`;
}

/** Whether a call has one of the values that a step stands for. */
export function isWithin({ dimension, clauses, signature }: Step, draft: Draft): boolean {
  const gone = new Set(clauses.filter((clause) => !survives(clause, dimension, draft)));
  return signatureOf(dimension, clauses, gone, draft) === signature;
}
