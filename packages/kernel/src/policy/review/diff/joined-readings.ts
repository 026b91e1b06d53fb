import type { Face } from "../../../capability/matching/paths.ts";
import { isJsonArray, type JsonValue } from "../../../json/json.ts";
import { foldText } from "../../../support/fold.ts";
import { compileArgument } from "../../decision/arguments.ts";
import { hasPlaceReadings } from "../../decision/place-readings.ts";
import type { ArgumentCondition } from "../../document/policy.ts";
import type { Readings } from "./draft.ts";
import { type OperatorName, operatorOf } from "./operators.ts";
import type { TakesReadings } from "./readings.ts";

/*
 * Values that mean several things at once: `a/../b` begins as `a` does and, to a reader of paths, as `b` does. A deny takes every meaning, and a grant needs
 * them all. No list says which values have which meanings together, so each combination counts as possible.
 */

/** How a condition takes the readings of a text. A new operator does not compile without its row. */
const takesReadings = {
  exists: "as-written",
  equals: "each",
  differs: "none-of",
  in: "each",
  notIn: "none-of",
  lessThan: "as-written",
  atMost: "as-written",
  moreThan: "as-written",
  atLeast: "as-written",
  longerThan: "as-written",
  startsWith: "each",
  endsWith: "each",
  contains: "each",
  hostIn: "as-written",
  hostNotIn: "as-written",
  pathIn: "as-written",
  pathNotIn: "as-written",
} as const satisfies Readonly<Record<OperatorName, TakesReadings>>;

export const takesOf = (condition: ArgumentCondition): TakesReadings => takesReadings[operatorOf(condition)];

/** Beyond these bounds some combinations are missing. */
const mostJoined = 1_000;
const mostTries = 50_000;
const mostTests = 400_000;

export interface Joined {
  readonly readings: readonly Readings[];
  /** Whether each combination that can count has its readings. */
  readonly isWhole: boolean;
}

/** The answers of all conditions to one reading, or to several. */
interface Answers {
  readonly readings: Readings;
  readonly grants: readonly boolean[];
  readonly denies: readonly boolean[];
}

/**
 * Readings that fulfil other conditions together than each value alone does.
 *
 * @param deepest The most readings that two clauses can need.
 */
export function joinedReadings(
  conditions: readonly ArgumentCondition[],
  values: readonly (JsonValue | undefined)[],
  deepest: number,
): Joined {
  if (conditions.filter((each) => takesOf(each) !== "as-written").length < 2) return { readings: [], isWhole: true };
  if (conditions.length * values.length > mostTests) return { readings: [], isWhole: false };
  const texts = values.filter((each) => typeof each === "string");
  const arrays = values.filter((each) => each !== undefined && isJsonArray(each));
  const parts = [texts, arrays].map((each) => joinsOf(conditions, each, deepest));
  return { readings: parts.flatMap(({ readings }) => readings), isWhole: parts.every(({ isWhole }) => isWhole) };
}

function joinsOf(conditions: readonly ArgumentCondition[], values: readonly JsonValue[], deepest: number): Joined {
  const joins = conditions.some(hasOtherReadings) ? [joinSure, joinPossible] : [joinSure];
  const takes = conditions.map(takesOf);
  const alone = distinctAnswers(conditions, values);
  const known = new Set(alone.keys());
  const readings: Readings[] = [];
  let tries = 0;
  let last: readonly Answers[] = [...alone.values()];
  for (let depth = 2; last.length > 0; depth++) {
    const next: Answers[] = [];
    for (const one of last) {
      tries += joins.length * alone.size;
      // Two clauses hold with `deepest` readings or fewer: more of them hide what these show.
      if (tries > mostTries || readings.length > mostJoined) return { readings, isWhole: depth > deepest };
      for (const both of [...alone.values()].flatMap((other) => joins.map((join) => join(one, other, takes)))) {
        const key = keyOf(both);
        if (known.has(key)) continue;
        known.add(key);
        readings.push(both.readings);
        next.push(both);
      }
    }
    last = next;
  }
  return { readings, isWhole: true };
}

function distinctAnswers(
  conditions: readonly ArgumentCondition[],
  values: readonly JsonValue[],
): ReadonlyMap<string, Answers> {
  const testsOf = (face: Face): readonly ReturnType<typeof compileArgument>[] =>
    conditions.map((condition) => compileArgument({ ...condition, at: "" }, face));
  const [grants, denies] = [testsOf("grant"), testsOf("deny")];
  const found = new Map<string, Answers>();
  for (const value of values) {
    const decision = { input: value };
    const answers: Answers = {
      readings: { sure: [value], possible: [] },
      grants: grants.map((test) => test(decision) === true),
      denies: denies.map((test) => test(decision) !== false),
    };
    const key = keyOf(answers);
    if (!found.has(key)) found.set(key, answers);
  }
  return found;
}

const keyOf = ({ grants, denies }: Answers): string => [...grants, ...denies].map(Number).join("");

type Join = (one: Answers, other: Answers, takes: readonly TakesReadings[]) => Answers;

/** Another reading that a grant looks at. */
const joinSure: Join = (one, other, takes) => ({
  readings: { ...one.readings, sure: [...one.readings.sure, other.readings.sure[0]] },
  grants: one.grants.map((each, at) => each && (takes[at] === "as-written" || other.grants[at] === true)),
  denies: deniesOf(one, other, takes),
});

/** Another reading. Only a deny looks at it, and a grant by a negation. */
const joinPossible: Join = (one, other, takes) => ({
  readings: { ...one.readings, possible: [...one.readings.possible, other.readings.sure[0]] },
  grants: one.grants.map((each, at) => each && (takes[at] !== "none-of" || other.grants[at] === true)),
  denies: deniesOf(one, other, takes),
});

const deniesOf: (...parts: Parameters<Join>) => Answers["denies"] = (one, other, takes) =>
  one.denies.map((each, at) => each || (takes[at] === "each" && other.denies[at] === true));

/** Whether a deny can see a text as another one than a grant does: a letter of another case or form, a number in a text, a place. */
function hasOtherReadings(condition: ArgumentCondition): boolean {
  return textsIn(Object.values({ ...condition, at: "" })).some(
    (text) => foldText(text) !== text || /^[+-]?\.?\d/.test(text) || hasPlaceReadings(text),
  );
}

function textsIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return typeof value === "object" && value !== null ? textsIn(Object.values(value)) : [String(value)];
}
