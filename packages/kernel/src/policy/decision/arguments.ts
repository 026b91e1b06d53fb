import { canBePublic, hostMatcher } from "../../capability/matching/hosts.ts";
import { checkPath, type Face, pathMatcher } from "../../capability/matching/paths.ts";
import { canonicalJson } from "../../json/canonical-json.ts";
import type { JsonValue } from "../../json/json.ts";
import { compilePointer, type ReadPointer } from "../../json/pointer.ts";
import { foldText } from "../../support/fold.ts";
import { hasLargeNumber } from "./fold-case.ts";
import { Folds, foldsOf } from "./folds.ts";
import type { ArgumentCondition } from "../document/policy.ts";
import { hasOwn } from "../../support/guards.ts";

/** Whether a condition holds, or the reason why it has no answer. */
export type Truth = boolean | RuleErrorCode;
export type RuleErrorCode =
  | "NOT_A_NUMBER"
  | "NOT_A_TEXT"
  | "NO_LENGTH"
  | "NOT_A_HOST"
  | "NOT_A_PATH"
  | "TOO_MUCH_TEXT"
  | "COUNTER_UNAVAILABLE";

/** `decision` is what is decided: see `Folds`. */
type Test = (value: JsonValue, decision: object) => Truth;

const onNumber =
  (test: (value: number) => boolean): Test =>
  (value) =>
    typeof value === "number" ? test(value) : "NOT_A_NUMBER";
const onText =
  (test: (value: string, decision: object) => Truth): Test =>
  (value, decision) =>
    typeof value === "string" ? test(value, decision) : "NOT_A_TEXT";

/** Equal as JSON, by canonical text; what forbids takes all that could be meant. */
function among(values: readonly JsonValue[], face: Face): Test {
  if (face === "grant") {
    const texts = new Set(values.map((value) => canonicalJson(value)));
    return (value, decision) => texts.has(Folds.of(decision).canonical(value));
  }
  const byFold = Map.groupBy(
    values.flatMap((value) => foldsOf(value).map((fold) => ({ fold, value }))),
    ({ fold }) => fold,
  );
  const isExact = !values.some(hasLargeNumber);
  return (value, decision) => {
    const folds = Folds.of(decision);
    const readings = folds.meanings(value);
    if (readings === undefined) return "TOO_MUCH_TEXT";
    const same = readings.flatMap((each) => byFold.get(each) ?? []);
    return isExact ? same.length > 0 : same.some((each) => folds.isAlike(each.value, value));
  };
}

type Stands = (text: string, wanted: string, folds: Folds) => boolean | undefined;

/**
 * Whether a text contains another one. A grant needs this as written and in each reading of a place;
 * a deny needs one reading, in letters of any case and form.
 */
function within(wanted: string, face: Face, stands: Stands): (text: string, decision: object) => Truth {
  return face === "grant" ? grantsWithin(wanted, stands) : deniesWithin(wanted, stands);
}

function grantsWithin(wanted: string, stands: Stands): (text: string, decision: object) => Truth {
  const parts = [wanted, ...(new Folds().places(wanted) ?? [])];
  return (text, decision) => {
    const folds = Folds.of(decision);
    const isThere = stands(text, wanted, folds);
    if (isThere !== true) return isThere ?? "TOO_MUCH_TEXT";
    const places = folds.places(text);
    return places?.every((each) => standsAny(each, parts, stands, folds) === true) ?? "TOO_MUCH_TEXT";
  };
}

function deniesWithin(wanted: string, stands: Stands): (text: string, decision: object) => Truth {
  // A fold of invisible characters alone is empty, and stands everywhere.
  const parts = [foldText(wanted), ...(new Folds().readings(wanted) ?? [])].filter((part) => part !== "");
  return (text, decision) => {
    const folds = Folds.of(decision);
    const isThere = stands(text, wanted, folds);
    if (parts.length === 0 || isThere !== false) return isThere ?? "TOO_MUCH_TEXT";
    const folded = folds.text(text);
    const readings = folds.readings(text);
    if (folded === undefined || readings === undefined) return "TOO_MUCH_TEXT";
    const found = [folded, ...readings].map((each) => standsAny(each, parts, stands, folds));
    return found.includes(true) || (found.includes(undefined) ? "TOO_MUCH_TEXT" : false);
  };
}

/** Also without the slash at the end: a parser adds one to a URL without a path. */
function standsAny(text: string, parts: readonly string[], stands: Stands, folds: Folds): boolean | undefined {
  const found = parts.flatMap((part) => [
    stands(text, part, folds),
    text.endsWith("/") && stands(text.slice(0, -1), part, folds),
  ]);
  return found.includes(true) || (found.includes(undefined) ? undefined : false);
}

/** Whether an array has an item that equals a text. The kernel looks up the items: each rule of a policy may ask for another one. */
function hasItem(wanted: string, face: Face): (value: readonly JsonValue[], decision: object) => Truth {
  if (face === "grant") return (value, decision) => Folds.of(decision).scalars(value).has(wanted);
  const wantedFolds = foldsOf(wanted);
  const isExact = !hasLargeNumber(wanted);
  return (value, decision) => {
    const folds = Folds.of(decision);
    const byFold = folds.alike(value);
    if (byFold === undefined) return "TOO_MUCH_TEXT";
    const same = wantedFolds.flatMap((fold) => byFold.get(fold) ?? []);
    return isExact ? same.length > 0 : same.some((each) => folds.isAlike(wanted, each));
  };
}

function contains(wanted: string, face: Face): Test {
  const isIn = within(wanted, face, (text, part, folds) => folds.finds(text, part));
  const isItem = hasItem(wanted, face);
  return (value, decision) => {
    if (typeof value === "string") return isIn(value, decision);
    if (!Array.isArray(value)) return "NOT_A_TEXT";
    const isThere = isItem(value, decision);
    // An item that is no text could hold it.
    return isThere === false && !Folds.of(decision).isFlat(value) ? "NOT_A_TEXT" : isThere;
  };
}

function onHost(patterns: readonly string[], face: Face): Test {
  const matches = hostMatcher(patterns);
  return (value, decision) => {
    if (typeof value !== "string") return "NOT_A_HOST";
    const { host, isPlain, namesMore } = Folds.of(decision).host(value);
    if (face === "grant" && !isPlain) return "NOT_A_HOST";
    const isThere = host !== undefined && matches(host, face === "deny" || canBePublic(host));
    return !isThere && (host === undefined || namesMore) ? "NOT_A_HOST" : isThere;
  };
}

function onPath(globs: readonly string[], face: Face): Test {
  const matches = pathMatcher(globs, face);
  return (value) => (typeof value === "string" && checkPath(value) === undefined ? matches(value) : "NOT_A_PATH");
}

const not =
  (test: Test): Test =>
  (value, decision) => {
    const truth = test(value, decision);
    return typeof truth === "boolean" ? !truth : truth;
  };

/** The operator's test of an argument that is there, and what it says of one that is absent. */
function compileOperator(
  condition: ArgumentCondition,
  face: Face,
): { readonly test: Test; readonly ifAbsent: boolean } {
  /**
   * A negation swaps the faces: a value outside of a denying list is outside of everything that the
   * list could mean.
   */
  const other = face === "grant" ? "deny" : "grant";
  const [test, ifAbsent = false] = ((): [Test, boolean?] => {
    if (hasOwn(condition, "exists")) return [() => condition.exists, !condition.exists];
    if (hasOwn(condition, "equals")) return [among([condition.equals], face)];
    if (hasOwn(condition, "differs")) return [not(among([condition.differs], other)), true];
    if (hasOwn(condition, "in")) return [among(condition.in, face)];
    if (hasOwn(condition, "notIn")) return [not(among(condition.notIn, other)), true];
    if (hasOwn(condition, "lessThan")) return [onNumber((value) => value < condition.lessThan)];
    if (hasOwn(condition, "atMost")) return [onNumber((value) => value <= condition.atMost)];
    if (hasOwn(condition, "moreThan")) return [onNumber((value) => value > condition.moreThan)];
    if (hasOwn(condition, "atLeast")) return [onNumber((value) => value >= condition.atLeast)];
    if (hasOwn(condition, "startsWith"))
      return [onText(within(condition.startsWith, face, (text, part) => text.startsWith(part)))];
    if (hasOwn(condition, "endsWith"))
      return [onText(within(condition.endsWith, face, (text, part) => text.endsWith(part)))];
    if (hasOwn(condition, "hostIn")) return [onHost(condition.hostIn, face)];
    if (hasOwn(condition, "hostNotIn")) return [not(onHost(condition.hostNotIn, other)), true];
    if (hasOwn(condition, "pathIn")) return [onPath(condition.pathIn, face)];
    if (hasOwn(condition, "pathNotIn")) return [not(onPath(condition.pathNotIn, other)), true];
    if (hasOwn(condition, "contains")) return [contains(condition.contains, face)];
    const hasLength = (value: JsonValue): value is string | readonly JsonValue[] =>
      typeof value === "string" || Array.isArray(value);
    return [(value) => (hasLength(value) ? value.length > condition.longerThan : "NO_LENGTH")];
  })();
  return { test, ifAbsent };
}

/** The test of one argument beside its place: rules about one place can share its value. */
export interface ArgumentTest {
  /** A pointer into the input. */
  readonly at: string;
  readonly read: ReadPointer;
  readonly test: Test;
  /** The answer where the place is empty. */
  readonly ifAbsent: boolean;
}

export function argumentTest(condition: ArgumentCondition, face: Face): ArgumentTest {
  return { at: condition.at, read: compilePointer(condition.at), ...compileOperator(condition, face) };
}

export function compileArgument(
  condition: ArgumentCondition,
  face: Face,
): (call: { readonly input: JsonValue }) => Truth {
  return asTest(argumentTest(condition, face));
}

export function asTest({ read, test, ifAbsent }: ArgumentTest): (call: { readonly input: JsonValue }) => Truth {
  return (decision) => {
    const value = read(decision.input);
    return value === undefined ? ifAbsent : test(value, decision);
  };
}
