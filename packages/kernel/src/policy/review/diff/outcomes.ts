import { modeAnswer } from "../../modes/mode.ts";
import type { Policy } from "../../document/make.ts";
import { type Dimension, dimensions, inOrder } from "./dimension.ts";
import { decisionInputOf, type Draft, type Level } from "./draft.ts";
import { observer, observersOf } from "./observers.ts";
import { type Ground, groundOf, rangeOf, type Saying } from "./levels.ts";
import { isSure, type Prepared } from "./prepared.ts";

/** Two answers about one call. */
export type Pair = readonly [a: Level, b: Level];

/** The possible answers to the remaining calls. */
export interface Outcomes {
  /** Whether each answer is known, given what both policies say. */
  readonly isSettled: boolean;
  /** Pairs that differ. */
  readonly differing: readonly Pair[];
}

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

  of(open: readonly Prepared[], after: Dimension | undefined, draft: Draft): Outcomes {
    const sides = [compress(open, "a", after), compress(open, "b", after)] as const;
    const differing = new Map<string, Pair>();
    const request = requestOf(open, after, draft);
    let isSettled = true;
    for (const shared of this.#shared) {
      const [[lowA, highA], [lowB, highB]] = this.#ranges(sides, shared, { draft, request });
      if (lowA === highA && lowB === highB) {
        if (lowA !== lowB) differing.set(`${lowA}${lowB}`, [lowA, lowB]);
        continue;
      }
      isSettled = false;
    }
    return { isSettled, differing: [...differing.values()] };
  }

  /**
   * The possible pairs for settled clauses of each policy, by the shared clauses that surely hold
   * and those that still can.
   */
  pairs(
    own: readonly Prepared[],
    sure: readonly Saying[],
    open: readonly Saying[],
    after: Dimension | undefined,
    draft: Draft,
  ): readonly string[] {
    const sides = [compress(own, "a", after), compress(own, "b", after)] as const;
    const request = draft.request ? "made" : "none";
    const pairs = combinationsOf(open).map((some) => {
      const [[a], [b]] = this.#ranges(sides, distinctSayings([...sure, ...some]), { draft, request });
      return `${a}${b}`;
    });
    return [...new Set(pairs)];
  }

  #ranges(sides: readonly [Sides, Sides], shared: readonly Saying[], { draft, request }: Asking) {
    // A policy that does not name the observer has a clause that denies it.
    const governance = this.#observers.has(draft.tool) ? observer : undefined;
    const answer = modeAnswer(draft.mode, decisionInputOf(draft, this.#policy).manifest, governance);
    const asked = { tier: draft.tier, request };
    const range = (ground: Ground, { sure, open }: Sides) =>
      rangeOf(ground, { ...asked, mode: ground.ofMode[answer] }, { sure: [...sure, ...shared], open });
    return [range(this.#grounds[0], sides[0]), range(this.#grounds[1], sides[1])] as const;
  }
}

interface Asking {
  readonly draft: Draft;
  readonly request: "none" | "made" | "open";
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

interface Sides {
  readonly sure: readonly Saying[];
  readonly open: readonly Saying[];
}

function compress(open: readonly Prepared[], side: "a" | "b", after: Dimension | undefined): Sides {
  const own = open.filter((each) => each.side === side);
  const sayings = (isMeant: boolean): readonly Saying[] =>
    distinctSayings(own.flatMap((each) => (isSure(each, after) === isMeant ? [each.clause] : [])));
  return { sure: sayings(true), open: sayings(false) };
}

function distinctSayings(clauses: readonly Saying[]): readonly Saying[] {
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
