import type { Policy } from "../../document/make.ts";
import { type Clause, clausesOf } from "./clauses.ts";
import { type Dimension, dimensions, shownValue } from "./dimension.ts";
import { type Draft, mildest } from "./draft.ts";
import { type Edge, type Leaf, type Part, Ways } from "./graph.ts";
import type { Mentioned } from "./need-part.ts";
import { lockdownClauses } from "./observers.ts";
import { OutcomeTable, sidesOf } from "./outcomes.ts";
import { isSure, mentionedIn, nextDimension, type Prepared, prepare, sortsBefore, stateOf } from "./prepared.ts";
import { goneOf, signatureOf } from "./step.ts";
import { hunt } from "./witness.ts";
import { costs, Spent, tooMany, Work } from "./work.ts";

export interface Searched {
  readonly root: Part | undefined;
  /** Those with calls about which the policies differ. */
  readonly leaves: readonly Leaf[];
  readonly ways: Ways;
  /** Dimensions that were not gone through whole, with the reason. */
  readonly capped: ReadonlyMap<string, string>;
  readonly tests: number;
}

/** Goes through the product of all dimensions in which the policies differ. */
export function search(a: Policy, b: Policy, mostTests: number): Searched {
  const [ofA, ofB] = [clausesOf(a), clausesOf(b)];
  const [keysA, keysB] = [ofA, ofB].map(({ clauses }) => new Set(clauses.map(({ key }) => key))) as [
    Set<string>,
    Set<string>,
  ];
  const shared = ofA.clauses.filter(({ key }) => keysB.has(key));
  let id = 0;
  const own = [
    ...ofA.clauses.filter(({ key }) => !keysB.has(key)).map((each) => prepare(each, "a", id++)),
    ...lockdownClauses(a, b).map((each) => prepare(each, "a", id++)),
    ...ofB.clauses.filter(({ key }) => !keysA.has(key)).map((each) => prepare(each, "b", id++)),
    ...lockdownClauses(b, a).map((each) => prepare(each, "b", id++)),
  ];
  const common = shared.map((each) => prepare(each, "both", id++));
  const work = new Work(mostTests);
  if (a.hash !== b.hash)
    for (const kind of new Set([...ofA.opaque, ...ofB.opaque]))
      work.cap(
        `requests of ${kind}`,
        "The kind is not one of the kernel's own, so the diff did not take its grants apart.",
      );
  if (own.length > 0) capNested([...ofA.clauses, ...ofB.clauses], work);
  const table = new OutcomeTable(a, b, shared);
  const walk = new Walk(table, work);
  const root = walk.run(own);
  const ways = new Ways(root);
  const parts = { a, b, shared: common, table, work };
  for (const [at, leaf] of walk.leaves.entries()) {
    // What is left is for the others.
    work.allow(1 / Math.min(4, walk.leaves.length - at));
    if (root) unlessSpent(() => hunt(parts, root, leaf, ways.to([leaf])));
  }
  const leaves = walk.leaves.filter(({ found }) => found.size > 0);
  return { root, leaves, ways, capped: work.capped, tests: work.tests };
}

/** Values of an argument are tried one by one: those of an argument within another are not combined with them. */
function capNested(clauses: readonly Clause[], work: Work): void {
  const pointers = new Map(
    clauses.flatMap(({ atoms }) =>
      atoms.flatMap(({ dimension }) =>
        dimension.pointer === undefined ? [] : [[dimension.pointer, dimension.name] as const],
      ),
    ),
  );
  for (const [pointer, name] of pointers)
    if ([...pointers.keys()].some((other) => other !== pointer && other.startsWith(`${pointer}/`)))
      work.cap(name, "A rule names an argument within it, and the diff did not combine their values.");
}

const mostValues = 20;

class Walk {
  readonly leaves: Leaf[] = [];
  readonly #table: OutcomeTable;
  readonly #work: Work;
  /** By what is left to learn. `undefined`: the answers are equal. */
  readonly #known = new Map<string, Part | undefined>();
  readonly #classified = new Map<string, Map<string, ValueClass>>();
  #isSpent = false;

  constructor(table: OutcomeTable, work: Work) {
    this.#table = table;
    this.#work = work;
  }

  run(own: readonly Prepared[]): Part | undefined {
    // The rest is for the search of examples.
    this.#work.allow(1 / 2);
    return this.#into(dimensions.tier, mildest, own);
  }

  #walk(draft: Draft, open: readonly Prepared[], after: Dimension): Part | undefined {
    const { settled, canDiffer } = this.#table.of(open, after, draft);
    if (!canDiffer) return undefined;
    const [isSettledA, isSettledB] = settled;
    // Where the answer of a policy is known, its other clauses change nothing.
    const left = open.filter((each) => isSure(each, after) || !(each.side === "a" ? isSettledA : isSettledB));
    const next = nextDimension(
      left.filter((each) => !isSure(each, after)),
      after,
    );
    const key = `${next?.name} ${deciding(left, after)} ${this.#table.stateOf(draft, left, after)} ${stateOf(left, after, draft)}`;
    if (this.#known.has(key)) return this.#known.get(key);
    const part = next ? this.#into(next, draft, left) : this.#leaf(draft, left, after);
    this.#known.set(key, part);
    return part;
  }

  #leaf(draft: Draft, open: readonly Prepared[], after: Dimension): Leaf {
    const leaf: Leaf = { draft, sides: sidesOf(open, after), found: new Map() };
    this.leaves.push(leaf);
    return leaf;
  }

  #into(dimension: Dimension, draft: Draft, open: readonly Prepared[]): Part | undefined {
    const looking = open.filter(({ atoms }) => atoms.has(dimension.name));
    const classes = this.#classes(dimension, draft, open, looking);
    const edges = new Map<string, Edge>();
    let drafts: readonly Draft[] | undefined;
    for (const [signature, { index, mentioned, gone, values }] of classes) {
      if (this.#isSpent) break;
      drafts ??= dimension.drafts(draft, mentioned);
      const chosen = drafts[index] ?? draft;
      const left = gone.size === 0 ? open : open.filter((each) => !gone.has(each));
      const to = this.#walk(chosen, left, dimension);
      if (to && classes.size === 1) return to;
      if (to) edges.set(signature, { to, values });
    }
    return edges.size === 0 ? undefined : { dimension, looking, edges, classes: classes.size };
  }

  /** Where nothing earlier counts, one walk through the values is enough for all drafts. */
  #classes(
    dimension: Dimension,
    draft: Draft,
    open: readonly Prepared[],
    looking: readonly Prepared[],
  ): ReadonlyMap<string, ValueClass> {
    const ids = looking.map(({ id }) => id).join();
    const key = `${dimension.name} ${draft.request?.kind} ${ids} ${sortsBefore(looking, dimension, draft)}`;
    const known = !dimension.isMixed ? this.#classified.get(key) : undefined;
    const classes = known ?? new Map<string, ValueClass>();
    const isWhole = unlessSpent(() => {
      if (!known) this.#classify(dimension, draft, looking, classes);
      this.#work.take(dimension, classes.size * (2 * open.length + this.#table.cost));
    });
    if (!isWhole) this.#isSpent = true;
    else if (!dimension.isMixed) this.#classified.set(key, classes);
    return classes;
  }

  #classify(dimension: Dimension, draft: Draft, looking: readonly Prepared[], classes: Map<string, ValueClass>): void {
    const mentioned = mentionedIn(looking, dimension);
    if (dimension.isWhole?.(mentioned) === false) this.#work.cap(dimension.name, tooMany);
    for (const [index, each] of dimension.drafts(draft, mentioned).entries()) {
      this.#work.take(dimension, looking.length + costs.value);
      const gone = goneOf(dimension, looking, each);
      const signature = signatureOf(dimension, looking, gone, each);
      const known = classes.get(signature) ?? { index, mentioned, gone, values: [] };
      classes.set(signature, known);
      if (known.values.length < mostValues) known.values.push(shownValue(dimension.show(each)));
    }
  }
}

interface ValueClass {
  /** Of its first value. */
  readonly index: number;
  readonly mentioned: Mentioned;
  readonly gone: ReadonlySet<Prepared>;
  readonly values: string[];
}

/** The clauses that decide for each policy, and whether a request is granted. */
function deciding(clauses: readonly Prepared[], after: Dimension): string {
  const sure = clauses.filter((each) => isSure(each, after));
  const most = new Map<string, number>();
  const placeOf = ({ side, clause: { role } }: Prepared): string => `${side} ${role}`;
  for (const each of sure) most.set(placeOf(each), Math.max(most.get(placeOf(each)) ?? 0, each.clause.level));
  const marks = sure.flatMap((each) => {
    const place = placeOf(each);
    if (each.clause.level !== most.get(place)) return [];
    return each.clause.role === "grant" ? [place] : [String(each.id)];
  });
  return [...new Set(marks)].join();
}

/** Returns false where the budget is empty. */
function unlessSpent(work: () => void): boolean {
  try {
    work();
    return true;
  } catch (error) {
    if (error instanceof Spent) return false;
    throw error;
  }
}
