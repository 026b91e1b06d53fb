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
  /** Those of whose value a later dimension has to know something. */
  readonly sorted: readonly Dimension[];
}

export function prepare(clause: Clause, side: Prepared["side"], id: number): Prepared {
  const atoms = Map.groupBy(clause.atoms, ({ dimension }) => dimension.name);
  const dimensions = [...atoms.values()].map(([first]) => first!.dimension).toSorted(inOrder);
  const sorted = dimensions.filter(({ name }) => atoms.get(name)?.some(({ sorts }) => sorts));
  return { id, clause, side, atoms, dimensions, sorted };
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

/** Everything that the rest of a comparison can still learn of clauses: ways that agree in it go on alike. */
export function stateOf(clauses: readonly Prepared[], after: Dimension | undefined, draft: Draft): string {
  const open = clauses.filter((each) => !isSure(each, after));
  return `${open.map(({ id }) => id).join()} ${after ? sortsBefore(open, after, draft, true) : ""}`;
}

/** The facts about the values of dimensions up to one. */
export function sortsBefore(
  clauses: readonly Prepared[],
  until: Dimension,
  draft: Draft,
  isWithIt: boolean = false,
): string {
  const sorts = new Set<string>();
  for (const each of clauses)
    for (const dimension of each.sorted)
      if (inOrder(dimension, until) < (isWithIt ? 1 : 0))
        sorts.add(`${dimension.name} ${sortOf([each], dimension, draft)}`);
  return [...sorts].join(" ");
}
