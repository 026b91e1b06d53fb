import { canBePublic, hostMatcher } from "../../capability/matching/hosts.ts";
import { type Face, pathMatcher } from "../../capability/matching/paths.ts";
import { canonicalJson } from "../../json/canonical-json.ts";
import { isJsonArray, type JsonValue } from "../../json/json.ts";
import { compilePointer, type ReadPointer } from "../../json/pointer.ts";
import { Folds, isScalar } from "./folds.ts";
import { keyOf, kindOf, kindOfStart, type TextKind } from "./plain-text.ts";
import type { ArgumentCondition } from "../document/policy.ts";
import { hasOwn } from "../../support/guards.ts";

/** Whether a condition holds, or the reason why it has no answer. */
export type Truth = boolean | RuleErrorCode;
export type RuleErrorCode =
  | "NOT_A_NUMBER"
  | "NOT_A_TEXT"
  | "NO_LENGTH"
  | "NOT_PLAIN"
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

/** A truth decides, and then an error. */
function anyOf(truths: readonly Truth[]): Truth {
  return truths.includes(true) || (truths.find((each) => each !== false) ?? false);
}

function allOf(truths: readonly Truth[]): Truth {
  return !truths.includes(false) && (truths.find((each) => each !== true) ?? true);
}

/** Equal as JSON, by canonical text; what forbids compares keys. */
function among(values: readonly JsonValue[], face: Face): Test {
  if (face === "grant") {
    const texts = new Set(values.map((value) => canonicalJson(value)));
    return (value, decision) => texts.has(Folds.of(decision).canonical(value));
  }
  const keys = [...Map.groupBy(values.filter(isScalar), kindOf)].map(
    ([kind, own]) => [kind, new Set(own.map((each) => keyOf(each, kind)))] as const,
  );
  const wholes = values.filter((each) => !isScalar(each));
  return (value, decision) => {
    const folds = Folds.of(decision);
    if (isScalar(value)) return anyOf(keys.map(([kind, own]) => folds.test(value, kind, (key) => own.has(key))));
    const truths = wholes.map((each) => meansSame(each, value, folds));
    return anyOf(keys.length === 0 ? truths : [...truths, "NOT_PLAIN"]);
  };
}

/** Templates write an array of one text as that text: beside a simple value it is not plain. */
function meansSame(wanted: JsonValue, value: JsonValue, folds: Folds): Truth {
  if (isScalar(wanted)) {
    const kind = kindOf(wanted);
    return isScalar(value) ? folds.test(value, kind, (key) => key === keyOf(wanted, kind)) : "NOT_PLAIN";
  }
  const own = Object.entries(wanted);
  if (isScalar(value) || isJsonArray(wanted) !== isJsonArray(value)) return false;
  const given = folds.members(value);
  if (own.length !== given.size || !own.every(([name]) => given.has(name))) return false;
  return allOf(own.map(([name, each]) => meansSame(each, given.get(name)!, folds)));
}

type Stands = (text: string, wanted: string, folds: Folds) => boolean | undefined;

/**
 * Whether a text contains another one. A grant needs this as written, in a text that is plain. A
 * deny needs it as written or between the keys.
 */
function within(wanted: string, kind: TextKind, face: Face, stands: Stands): (text: string, decision: object) => Truth {
  if (face === "grant")
    return (text, decision) => {
      const folds = Folds.of(decision);
      if (text === wanted) return true;
      const isThere = stands(text, wanted, folds);
      return isThere === true ? folds.test(text, "any", () => true) : (isThere ?? "TOO_MUCH_TEXT");
    };
  const key = keyOf(wanted, kind);
  // The key of a folder has no slash at its end.
  const isFolder = (kind === "url" || kind === "path") && /[/\\]\s*$/.test(wanted);
  const part = isFolder ? key.replace(/\/?$/, "/") : key;
  return (text, decision) => {
    const folds = Folds.of(decision);
    const isThere = stands(text, wanted, folds);
    // A key of invisible characters alone is empty, and stands everywhere.
    if (part === "" || isThere !== false) return isThere ?? "TOO_MUCH_TEXT";
    return folds.test(text, kind, (given) => (isFolder && given === key) || stands(given, part, folds));
  };
}

/** Whether an array has an item that equals a text. The kernel looks up the items: each rule of a policy may ask for another one. */
function hasItem(wanted: string, face: Face): (value: readonly JsonValue[], decision: object) => Truth {
  if (face === "grant") return (value, decision) => Folds.of(decision).scalars(value).has(wanted);
  const kind = kindOf(wanted);
  const key = keyOf(wanted, kind);
  return (value, decision) => {
    const { keys, fault = false } = Folds.of(decision).items(value, kind);
    return keys.has(key) || fault;
  };
}

function contains(wanted: string, face: Face): Test {
  const isIn = within(wanted, "text", face, (text, part, folds) => folds.finds(text, part));
  const isItem = hasItem(wanted, face);
  return (value, decision) => {
    if (typeof value === "string") return isIn(value, decision);
    if (!isJsonArray(value)) return "NOT_A_TEXT";
    const isThere = isItem(value, decision);
    // An item that is no text could hold it.
    return isThere === false && !Folds.of(decision).isFlat(value) ? "NOT_A_TEXT" : isThere;
  };
}

function onHost(patterns: readonly string[], face: Face): Test {
  const matches = hostMatcher(patterns);
  return onText((text, decision) =>
    Folds.of(decision).test(text, "host", (host) => matches(host, face === "deny" || canBePublic(host))),
  );
}

function onPath(globs: readonly string[], face: Face): Test {
  const matches = pathMatcher(globs, face);
  return onText((text, decision) => Folds.of(decision).test(text, "file", matches));
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
    if (hasOwn(condition, "startsWith")) {
      const { startsWith } = condition;
      return [onText(within(startsWith, kindOfStart(startsWith), face, (text, part) => text.startsWith(part)))];
    }
    if (hasOwn(condition, "endsWith"))
      return [onText(within(condition.endsWith, "text", face, (text, part) => text.endsWith(part)))];
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
