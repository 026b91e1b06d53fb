import { isPlain, type NotPlain, notPlainText } from "../../capability/matching/plain.ts";
import { isJsonArray, type JsonValue } from "../../json/json.ts";
import { compilePointer } from "../../json/pointer.ts";
import { hasOwn } from "../../support/guards.ts";
import type { ArgumentCondition, PolicyRule } from "../document/policy.ts";
import { isScalar } from "./folds.ts";
import { kindOf, kindOfStart, plainText, type Scalar, type TextKind } from "./plain-text.ts";

/** A text that a condition names, and what it says an argument is. */
type Literal = readonly [literal: Scalar, kind: TextKind];

export function literalsOf(condition: ArgumentCondition): readonly Literal[] {
  if (hasOwn(condition, "equals")) return scalarsIn(condition.equals);
  if (hasOwn(condition, "differs")) return scalarsIn(condition.differs);
  if (hasOwn(condition, "in")) return condition.in.flatMap(scalarsIn);
  if (hasOwn(condition, "notIn")) return condition.notIn.flatMap(scalarsIn);
  if (hasOwn(condition, "startsWith")) return [[condition.startsWith, kindOfStart(condition.startsWith)]];
  if (hasOwn(condition, "endsWith")) return [[condition.endsWith, "text"]];
  if (hasOwn(condition, "contains")) return [[condition.contains, "text"], ...scalarsIn(condition.contains)];
  if (hasOwn(condition, "hostIn")) return condition.hostIn.map((host) => [host, "host"]);
  if (hasOwn(condition, "hostNotIn")) return condition.hostNotIn.map((host) => [host, "host"]);
  if (hasOwn(condition, "pathIn")) return condition.pathIn.map((path) => [path, "file"]);
  return hasOwn(condition, "pathNotIn") ? condition.pathNotIn.map((path) => [path, "file"]) : [];
}

function scalarsIn(value: JsonValue): readonly Literal[] {
  return isScalar(value) ? [[value, kindOf(value)]] : Object.values(value).flatMap(scalarsIn);
}

/** The fault of a text that a condition names. Hosts and paths are patterns, with checks of their own. */
export function literalFault(condition: ArgumentCondition): string | undefined {
  for (const [literal, kind] of literalsOf(condition)) {
    const plain = kind === "host" || kind === "file" ? undefined : plainText(literal, kind);
    if (plain && !isPlain(plain)) return faultText(literal, plain);
  }
  return undefined;
}

/** Why a rule cannot read an argument, and the plain spelling. */
export function notPlainFault({ when }: PolicyRule, input: JsonValue): string | undefined {
  for (const condition of when.arguments ?? []) {
    const fault = argumentFault(condition, input);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function argumentFault(condition: ArgumentCondition, input: JsonValue): string | undefined {
  const value = compilePointer(condition.at)(input);
  if (value === undefined) return undefined;
  const given = isJsonArray(value) ? value.filter(isScalar) : isScalar(value) ? [value] : [];
  for (const kind of new Set(literalsOf(condition).map(([, each]) => each)))
    for (const each of given) {
      const plain = plainText(each, kind);
      if (!isPlain(plain)) return faultText(each, plain);
    }
  return isScalar(value) ? undefined : `The argument ${condition.at} is not plain: it is no simple value.`;
}

/** Characters of a value in a message. A longer one shows its beginning, and no spelling. */
const mostShown = 200;

function faultText(value: Scalar, plain: NotPlain): string {
  const text = String(value);
  return text.length <= mostShown
    ? notPlainText(text, plain)
    : notPlainText(text.slice(0, mostShown), { part: "", fault: plain.fault });
}
