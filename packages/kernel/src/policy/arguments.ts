import { canBePublic, hostMatcher, hostOf } from "../capability/hosts.ts";
import { checkPath, type Face, pathMatcher } from "../capability/paths.ts";
import { canonicalJson } from "../normalize/canonical-json.ts";
import type { JsonArray, JsonObject, JsonValue } from "../normalize/json.ts";
import type { ArgumentCondition } from "./policy.ts";

/** Whether something holds, or why nobody can say. */
export type Truth = boolean | RuleErrorCode;
export type RuleErrorCode =
  | "NOT_A_NUMBER"
  | "NOT_A_TEXT"
  | "NO_LENGTH"
  | "NOT_A_HOST"
  | "NOT_A_PATH"
  | "COUNTER_UNAVAILABLE";

/** Reads one place of the arguments. `undefined` where there is nothing. */
export type ReadPointer = (input: JsonValue) => JsonValue | undefined;

/** JSON Pointer (RFC 6901). Own properties only; an index has no leading zeros. */
export function compilePointer(pointer: string): ReadPointer {
  const tokens = pointer
    .split("/")
    .slice(1)
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
  const [first = ""] = tokens;
  // Most pointers name a member of the arguments: a policy whose rules all look at one spends half of a decision here.
  if (tokens.length === 1) return (input) => member(input, first);
  return (input) => {
    let value: JsonValue | undefined = input;
    for (const token of tokens) value = member(value, token);
    return value;
  };
}

function member(value: JsonValue | undefined, token: string): JsonValue | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (!Array.isArray(value)) return Object.hasOwn(value, token) ? (value as JsonObject)[token] : undefined;
  return /^(?:0|[1-9]\d*)$/.test(token) ? (value as JsonArray)[Number(token)] : undefined;
}

type Test = (value: JsonValue) => Truth;

const onNumber =
  (test: (value: number) => boolean): Test =>
  (value) =>
    typeof value === "number" ? test(value) : "NOT_A_NUMBER";
const onText =
  (test: (value: string) => boolean): Test =>
  (value) =>
    typeof value === "string" ? test(value) : "NOT_A_TEXT";

/** Equal as JSON: by canonical text. */
function among(values: readonly JsonValue[]): Test {
  const texts = new Set(values.map(canonicalJson));
  return (value) => texts.has(canonicalJson(value));
}

function onHost(patterns: readonly string[], face: Face): Test {
  const matches = hostMatcher(patterns);
  return (value) => {
    const host = typeof value === "string" ? hostOf(value) : undefined;
    return host === undefined ? "NOT_A_HOST" : matches(host, face === "deny" || canBePublic(host));
  };
}

function onPath(globs: readonly string[], face: Face): Test {
  const matches = pathMatcher(globs, face);
  return (value) => (typeof value === "string" && checkPath(value) === undefined ? matches(value) : "NOT_A_PATH");
}

const not =
  (test: Test): Test =>
  (value) => {
    const truth = test(value);
    return typeof truth === "boolean" ? !truth : truth;
  };

/** The operator's test of an argument that is there, and what it says of one that is absent. */
function compileOperator(
  condition: ArgumentCondition,
  face: Face,
): { readonly test: Test; readonly ifAbsent: boolean } {
  /** What is not in a list that denies is in none that it could mean, and the other way round. */
  const other = face === "grant" ? "deny" : "grant";
  const [test, ifAbsent = false] = ((): [Test, boolean?] => {
    if ("exists" in condition) return [() => condition.exists, !condition.exists];
    if ("equals" in condition) return [among([condition.equals])];
    if ("differs" in condition) return [not(among([condition.differs])), true];
    if ("in" in condition) return [among(condition.in)];
    if ("notIn" in condition) return [not(among(condition.notIn)), true];
    if ("lessThan" in condition) return [onNumber((value) => value < condition.lessThan)];
    if ("atMost" in condition) return [onNumber((value) => value <= condition.atMost)];
    if ("moreThan" in condition) return [onNumber((value) => value > condition.moreThan)];
    if ("atLeast" in condition) return [onNumber((value) => value >= condition.atLeast)];
    if ("startsWith" in condition) return [onText((value) => value.startsWith(condition.startsWith))];
    if ("endsWith" in condition) return [onText((value) => value.endsWith(condition.endsWith))];
    if ("hostIn" in condition) return [onHost(condition.hostIn, face)];
    if ("hostNotIn" in condition) return [not(onHost(condition.hostNotIn, other)), true];
    if ("pathIn" in condition) return [onPath(condition.pathIn, face)];
    if ("pathNotIn" in condition) return [not(onPath(condition.pathNotIn, other)), true];
    const hasLength = (value: JsonValue): value is string | readonly JsonValue[] =>
      typeof value === "string" || Array.isArray(value);
    if ("longerThan" in condition)
      return [(value) => (hasLength(value) ? value.length > condition.longerThan : "NO_LENGTH")];
    return [(value) => (hasLength(value) ? value.includes(condition.contains) : "NOT_A_TEXT")];
  })();
  return { test, ifAbsent };
}

export function compileArgument(
  condition: ArgumentCondition,
  face: Face,
): (call: { readonly input: JsonValue }) => Truth {
  const read = compilePointer(condition.at);
  const { test, ifAbsent } = compileOperator(condition, face);
  return ({ input }) => {
    const value = read(input);
    return value === undefined ? ifAbsent : test(value);
  };
}
