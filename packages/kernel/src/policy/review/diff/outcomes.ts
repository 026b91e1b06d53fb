import { modeAnswer } from "../../modes/mode.ts";
import type { Policy } from "../../document/make.ts";
import { type Dimension, dimensions, inOrder } from "./dimension.ts";
import { decisionInputOf, type Draft, type Level } from "./draft.ts";
import { observer, observersOf } from "./observers.ts";
import { type Ground, groundOf, type Range, rangeOf, type Saying } from "./levels.ts";
import { isSure, type Prepared } from "./prepared.ts";
import { costs } from "./work.ts";

/** Two answers about one call. */
export type Pair = readonly [a: Level, b: Level];

/** The possible answers to the remaining calls. */
export interface Outcomes {
  /** Whether the answer of each policy is known, given what both say. */
  readonly settled: readonly [a: boolean, b: boolean];
  /** Whether they can still differ. */
  readonly canDiffer: boolean;
}

/** The sayings of the clauses that one policy alone has. */
export interface OwnSayings {
  readonly sure: readonly Saying[];
  readonly open: readonly Saying[];
}

/** The sayings of each policy alone. */
export type Sides = readonly [a: OwnSayings, b: OwnSayings];

/** All outcomes of clauses of both policies that may hold or not. */
export class OutcomeTable {
  readonly #policy: Policy;
  readonly #observers: ReadonlySet<string>;
  readonly #grounds: readonly [Ground, Ground];
  readonly #shared: readonly (readonly Saying[])[];

  constructor(a: Policy, b: Policy, shared: readonly Saying[]) {
    this.#policy = a;
    this.#observers = new Set([...observersOf(a), ...observersOf(b)]);
    this.#grounds = [groundOf(a), groundOf(b)];
    this.#shared = combinationsOf(shared);
  }

  /** Tests that one question costs. */
  get cost(): number {
    return costs.place + costs.combination * this.#shared.length;
  }

  of(open: readonly Prepared[], after: Dimension | undefined, draft: Draft): Outcomes {
    const asking = this.#asking(draft, requestOf(open, after, draft));
    const sides = sidesOf(open, after);
    let [settledA, settledB, canDiffer] = [true, true, false];
    for (const shared of this.#shared) {
      if (canDiffer && !settledA && !settledB) break;
      const [[lowA, highA], [lowB, highB]] = this.#ranges(sides, shared, asking);
      if (lowA !== highA) settledA = false;
      if (lowB !== highB) settledB = false;
      if (lowA !== highA || lowB !== highB || lowA !== lowB) canDiffer = true;
    }
    return { settled: [settledA, settledB], canDiffer };
  }

  /** The possible pairs for settled clauses of each policy, by the shared clauses that surely hold and those that still can. */
  pairs(sides: Sides, sure: readonly Saying[], open: readonly Saying[], draft: Draft): readonly Pair[] {
    const asking = this.#asking(draft, draft.request ? "made" : "none");
    return combinationsOf(open).map((some): Pair => {
      const [[a], [b]] = this.#ranges(sides, distinctSayings([...sure, ...some]), asking);
      return [a, b];
    });
  }

  /** The facts about a draft that decide beside the clauses. Tiers that no mode and no posture tells apart are one. */
  stateOf(draft: Draft, open: readonly Prepared[], after: Dimension): string {
    const { mode, request, tier } = draft;
    const isModeOpen = inOrder(after, dimensions.mode) < 0 && open.some(({ atoms }) => atoms.has(dimensions.mode.name));
    const ofModes = isModeOpen || mode !== "NORMAL" ? Math.min(tier, 3) : "";
    const bases = this.#grounds.map(({ base }) => base(tier)).join("");
    return `${bases} ${ofModes} ${mode} ${this.#answer(draft)} ${this.#observers.has(draft.tool)} ${request?.kind}`;
  }

  #answer(draft: Draft): ReturnType<typeof modeAnswer> {
    // A policy that does not name the observer has a clause that denies it.
    const governance = this.#observers.has(draft.tool) ? observer : undefined;
    return modeAnswer(draft.mode, decisionInputOf(draft, this.#policy).manifest, governance);
  }

  #asking(draft: Draft, request: Asking["request"]): Asking {
    return { draft, request, answer: this.#answer(draft) };
  }

  #ranges(sides: Sides, shared: readonly Saying[], { draft, request, answer }: Asking): readonly [Range, Range] {
    const asked = { tier: draft.tier, request };
    const range = (ground: Ground, { sure, open }: OwnSayings): Range =>
      rangeOf(ground, { ...asked, mode: ground.ofMode[answer] }, { sure: [...sure, ...shared], open });
    return [range(this.#grounds[0], sides[0]), range(this.#grounds[1], sides[1])];
  }
}

interface Asking {
  readonly draft: Draft;
  readonly request: "none" | "made" | "open";
  readonly answer: ReturnType<typeof modeAnswer>;
}

/**
 * An undecided request matters where only one policy has a clause for it: shared clauses give one
 * answer.
 */
function requestOf(open: readonly Prepared[], after: Dimension | undefined, draft: Draft): Asking["request"] {
  if (draft.request) return "made";
  if (after && inOrder(dimensions.request, after) <= 0) return "none";
  return open.some(({ clause: { role } }) => role === "grant" || role === "forbids") ? "open" : "none";
}

export function sidesOf(clauses: readonly Prepared[], after: Dimension | undefined): Sides {
  return [compress(clauses, "a", after), compress(clauses, "b", after)];
}

function compress(clauses: readonly Prepared[], side: "a" | "b", after: Dimension | undefined): OwnSayings {
  const own = clauses.filter((each) => each.side === side);
  const sayings = (isMeant: boolean): readonly Saying[] =>
    distinctSayings(own.flatMap((each) => (isSure(each, after) === isMeant ? [each.clause] : [])));
  return { sure: sayings(true), open: sayings(false) };
}

export function distinctSayings(clauses: readonly Saying[]): readonly Saying[] {
  return [...new Map(clauses.map(({ role, level }) => [`${role} ${level}`, { role, level }])).values()];
}

/** Which of some sayings can hold together: the strictest rule and the strictest floor decide. */
function combinationsOf(sayings: readonly Saying[]): readonly (readonly Saying[])[] {
  const byRole = Map.groupBy(distinctSayings(sayings), ({ role }) => role);
  return [...byRole.values()].reduce<readonly (readonly Saying[])[]>(
    (known, choices) => known.flatMap((some) => [some, ...choices.map((choice) => [...some, choice])]),
    [[]],
  );
}
