import { type Dimension, dimensions } from "./dimension.ts";
import type { Draft } from "./draft.ts";
import { type Prepared, sortOf, survives } from "./prepared.ts";

/** The clauses that cannot hold with the value of a draft. */
export function goneOf(dimension: Dimension, looking: readonly Prepared[], draft: Draft): ReadonlySet<Prepared> {
  return new Set(looking.filter((clause) => !survives(clause, dimension, draft)));
}

/** The distinctions that clauses make for a value: those that can still hold, and what later dimensions have to know. */
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
