import type { Atom } from "./atom.ts";
import type { Clause } from "./clauses.ts";
import { type Dimension, inOrder } from "./dimension.ts";
import type { Draft } from "./draft.ts";
import type { Mentioned } from "./need-part.ts";

/** A clause that is ready to be tried dimension by dimension. */
export interface Prepared {
  readonly id: number;
  readonly clause: Clause;
  /** The policy that has the clause. */
  readonly side: "a" | "b" | "both";
  readonly atoms: ReadonlyMap<string, readonly Atom[]>;
  /** In order. */
  readonly dimensions: readonly Dimension[];
}

export function prepare(clause: Clause, side: Prepared["side"], id: number): Prepared {
  const atoms = Map.groupBy(clause.atoms, ({ dimension }) => dimension.name);
  const dimensions = [...atoms.values()].map(([first]) => first!.dimension).toSorted(inOrder);
  return { id, clause, side, atoms, dimensions };
}

/** Whether all of its dimensions are decided. */
export function isSure({ dimensions }: Prepared, after: Dimension | undefined): boolean {
  const last = dimensions.at(-1);
  return last === undefined || (after !== undefined && inOrder(last, after) <= 0);
}

/** The next dimension that one of them looks at. */
export function nextDimension(clauses: readonly Prepared[], after: Dimension | undefined): Dimension | undefined {
  let next: Dimension | undefined;
  for (const { dimensions } of clauses) {
    const own = dimensions.find((each) => after === undefined || inOrder(each, after) > 0);
    if (own && (next === undefined || inOrder(own, next) < 0)) next = own;
  }
  return next;
}

/** The values of one dimension that clauses mention. */
export function mentionedIn(clauses: readonly Prepared[], { name }: Dimension): Mentioned {
  const atoms = clauses.flatMap((each) => each.atoms.get(name) ?? []);
  const all = <T>(read: (mentioned: Partial<Mentioned>) => readonly T[] | undefined): readonly T[] => [
    ...new Set(atoms.flatMap(({ mentioned }) => read(mentioned) ?? [])),
  ];
  return {
    texts: all(({ texts }) => texts),
    numbers: all(({ numbers }) => numbers),
    others: all(({ others }) => others),
  };
}

/** Whether a clause can still hold after one dimension is decided. */
export function survives({ atoms }: Prepared, { name }: Dimension, draft: Draft): boolean {
  return atoms.get(name)?.every(({ holds }) => holds?.(draft) ?? true) ?? true;
}

/** The facts about the value of a dimension that later dimensions need. */
export function sortOf(clauses: readonly Prepared[], { name }: Dimension, draft: Draft): string {
  const sorts = clauses.flatMap(({ atoms }) => atoms.get(name)?.flatMap((atom) => atom.sorts?.(draft) ?? []) ?? []);
  return [...new Set(sorts)].join();
}
