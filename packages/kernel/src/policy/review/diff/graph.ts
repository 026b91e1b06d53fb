import type { CallVerdict } from "../../decision/decide-targets.ts";
import type { Dimension } from "./dimension.ts";
import type { Draft } from "./draft.ts";
import type { Pair, Sides } from "./outcomes.ts";
import type { Prepared } from "./prepared.ts";
import { goneOf, signatureOf } from "./step.ts";
import { hasOwn } from "../../../support/guards.ts";

/*
 * The calls that two policies can answer differently, as a graph: each fork decides one dimension, and ways that leave the same open meet again. There are far fewer forks than
 * products of values.
 */

/** A call about which the policies answer differently: the kernel decided it twice. */
export interface Found {
  readonly draft: Draft;
  readonly levels: Pair;
  readonly verdicts: readonly [a: CallVerdict, b: CallVerdict];
}

/** Decides one dimension. */
export interface Fork {
  readonly dimension: Dimension;
  /** The clauses that look at it. */
  readonly looking: readonly Prepared[];
  /** By signature: the classes of values after which the answers can still differ. */
  readonly edges: Map<string, Edge>;
  /** The number of classes, with those after which the answers are equal. */
  readonly classes: number;
}

export interface Edge {
  readonly to: Part;
  /** Some values of the class, as people read them. */
  readonly values: readonly string[];
}

/** Calls that the clauses which only one policy has cannot tell apart. */
export interface Leaf {
  readonly draft: Draft;
  readonly sides: Sides;
  /** A call for each way in which the answers differ. */
  readonly found: Map<string, Found>;
}

export type Part = Fork | Leaf;

const isFork = (part: Part): part is Fork => hasOwn(part, "edges");

/** The part that the value of a draft leads to. */
export function follow(fork: Fork, draft: Draft): Part | undefined {
  const { dimension, looking, edges } = fork;
  return edges.get(signatureOf(dimension, looking, goneOf(dimension, looking, draft), draft))?.to;
}

/** The leaf that a call belongs to. */
export function leafOf(root: Part | undefined, call: Draft): Leaf | undefined {
  let part = root;
  while (part && isFork(part)) part = follow(part, call);
  return part;
}

/** Which parts lead to which. */
export class Ways {
  /** Each fork stands before those that it leads to. */
  readonly #forks: readonly Fork[];
  readonly #from = new Map<Part, Fork[]>();

  constructor(root: Part | undefined) {
    const seen = new Set<Part>();
    const forks: Fork[] = [];
    const walk = (part: Part): void => {
      if (seen.has(part)) return;
      seen.add(part);
      if (!isFork(part)) return;
      for (const { to } of part.edges.values()) walk(to);
      forks.push(part);
    };
    if (root) walk(root);
    this.#forks = forks.toReversed();
    for (const fork of forks)
      for (const { to } of fork.edges.values()) {
        const known = this.#from.get(to) ?? [];
        this.#from.set(to, known);
        known.push(fork);
      }
  }

  /** The parts from which a way leads to one of some leaves, these included. */
  to(leaves: readonly Leaf[]): ReadonlySet<Part> {
    const reached = new Set<Part>(leaves);
    // A set goes on through what it is given on the way.
    for (const part of reached) for (const fork of this.#from.get(part) ?? []) reached.add(fork);
    return reached;
  }

  /** The number of ways, and some values of each dimension that decides on them. */
  describe(leaves: readonly Leaf[], mostValues: number): Described {
    const reached = this.to(leaves);
    const counts = new Map<Part, number>(leaves.map((leaf) => [leaf, 1]));
    const where = new Map<string, Set<string>>();
    for (const fork of this.#forks.toReversed()) {
      if (!reached.has(fork)) continue;
      const edges = [...fork.edges.values()].filter(({ to }) => reached.has(to));
      counts.set(
        fork,
        edges.reduce((sum, { to }) => sum + (counts.get(to) ?? 0), 0),
      );
    }
    for (const { dimension, edges, classes } of this.#forks.filter((fork) => reached.has(fork))) {
      const led = [...edges.values()].filter(({ to }) => reached.has(to));
      if (led.length === classes) continue;
      const known = where.get(dimension.name) ?? new Set<string>();
      where.set(dimension.name, known);
      for (const value of led.flatMap(({ values }) => values)) if (known.size < mostValues) known.add(value);
    }
    const first = this.#forks[0] ?? leaves[0];
    return { ways: (first && counts.get(first)) ?? 0, where };
  }
}

interface Described {
  readonly ways: number;
  /** By dimension. */
  readonly where: ReadonlyMap<string, ReadonlySet<string>>;
}
