import type { Policy } from "../../document/make.ts";
import { type Clause, clausesOf } from "./clauses.ts";
import { type Dimension, dimensions, shownValue } from "./dimension.ts";
import { type Draft, mildest } from "./draft.ts";
import { lockdownClauses } from "./observers.ts";
import { OutcomeTable } from "./outcomes.ts";
import { isSure, mentionedIn, nextDimension, type Prepared, prepare, survives } from "./prepared.ts";
import { signatureOf, type Step } from "./step.ts";
import { type Found, Witnesses } from "./witness.ts";
import { Spent, Work } from "./work.ts";

/** Calls that the clauses which only one policy has cannot tell apart, with a call for each way in which the answers differ. */
export interface Region {
  readonly steps: readonly Step[];
  readonly found: readonly Found[];
  /** Clauses of one policy that hold for all of them. */
  readonly sure: readonly Prepared[];
}

export interface Searched {
  readonly regions: readonly Region[];
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
  const walk = new Walk(
    a,
    b,
    own,
    shared.map((each) => prepare(each, "both", id++)),
    mostTests,
  );
  if (a.hash !== b.hash)
    for (const kind of new Set([...ofA.opaque, ...ofB.opaque]))
      walk.work.cap(
        `requests of ${kind}`,
        "The kind is not one of the kernel's own, so the diff did not take its grants apart.",
      );
  if (own.length > 0) capNested([...ofA.clauses, ...ofB.clauses], walk.work);
  return walk.run();
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
  readonly work: Work;
  readonly #own: readonly Prepared[];
  readonly #table: OutcomeTable;
  readonly #witnesses: Witnesses;
  readonly #regions: Region[] = [];

  constructor(a: Policy, b: Policy, own: readonly Prepared[], shared: readonly Prepared[], mostTests: number) {
    this.work = new Work(mostTests);
    this.#own = own;
    this.#table = new OutcomeTable(
      a,
      b,
      shared.map(({ clause }) => clause),
    );
    this.#witnesses = new Witnesses({ a, b, shared, table: this.#table, work: this.work });
  }

  run(): Searched {
    try {
      this.#into(dimensions.tier, mildest, this.#own, []);
    } catch (error) {
      if (!(error instanceof Spent)) throw error;
    }
    return { regions: this.#regions, capped: this.work.capped, tests: this.work.tests };
  }

  #walk(draft: Draft, open: readonly Prepared[], after: Dimension, steps: readonly Step[]): void {
    const { isSettled, differing } = this.#table.of(open, after, draft);
    if (isSettled && differing.length === 0) return;
    const pending = open.filter((each) => !isSure(each, after));
    const next = isSettled ? undefined : nextDimension(pending, after);
    if (next) return this.#into(next, draft, open, steps);
    const found = this.#witnesses.find(draft, open, after, steps);
    if (found.length > 0) this.#regions.push({ steps, found, sure: open.filter((each) => isSure(each, after)) });
  }

  #into(dimension: Dimension, draft: Draft, open: readonly Prepared[], steps: readonly Step[]): void {
    const looking = open.filter(({ atoms }) => atoms.has(dimension.name));
    const mentioned = mentionedIn(looking, dimension);
    if (dimension.isWhole?.(mentioned) === false)
      this.work.cap(dimension.name, "The policies name more of it than the comparison has combined.");
    const classes = new Map<
      string,
      { readonly draft: Draft; readonly gone: ReadonlySet<Prepared>; readonly values: string[] }
    >();
    for (const each of dimension.drafts(draft, mentioned)) {
      this.work.take(dimension, looking.length + 1);
      const gone = new Set(looking.filter((clause) => !survives(clause, dimension, each)));
      const signature = signatureOf(dimension, looking, gone, each);
      const known = classes.get(signature) ?? { draft: each, gone, values: [] };
      classes.set(signature, known);
      if (known.values.length < mostValues) known.values.push(shownValue(dimension.show(each)));
    }
    for (const [signature, { draft: chosen, gone, values }] of classes) {
      const step: Step = { dimension, clauses: looking, signature, values };
      this.#walk(
        chosen,
        gone.size === 0 ? open : open.filter((each) => !gone.has(each)),
        dimension,
        classes.size === 1 ? steps : [...steps, step],
      );
    }
  }
}
