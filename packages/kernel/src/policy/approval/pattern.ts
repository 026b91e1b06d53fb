import * as limits from "../../limits.ts";
import { canonicalJson } from "../../json/canonical-json.ts";
import { type ApprovalRequest, patternRule } from "./approval.ts";
import { compileArgument } from "../decision/arguments.ts";
import { Families } from "../../capability/registry.ts";
import { readDocument } from "../document/load.ts";
import type { ArgumentCondition } from "../document/policy.ts";

/** A pattern names arguments, and no kind of capability. */
export const noFamilies: Families = /* @__PURE__ */ new Families([]);

type Asked = Pick<ApprovalRequest, "approvalId" | "tool" | "sessionId" | "caller" | "input">;

/**
 * Why an argument pattern cannot be the answer to a question, as a sentence; `undefined` where it can. A pattern is foreign data: it has to make a valid
 * rule, and that rule has to match the very arguments that were shown.
 */
export function patternFault(asked: Asked, pattern: unknown): string | undefined {
  const read = readPattern(asked, pattern);
  return typeof read === "string" ? read : undefined;
}

/** The conditions of a pattern, copied before their check; or its fault. */
export function readPattern(asked: Asked, foreign: unknown): readonly ArgumentCondition[] | string {
  const rule = patternRule(asked, foreign as readonly ArgumentCondition[], "");
  const loaded = readDocument({ version: "1", posture: "strict", rules: [rule] }, {}, noFamilies);
  // The rule around it is ours: the approver knows only the conditions.
  if (!loaded.ok) return `The pattern is invalid: ${loaded.error.message.replaceAll("/rules/0/when/arguments", "")}`;
  const conditions = loaded.value.rules?.[0]?.when.arguments;
  if (!conditions) return "The pattern is not a list of conditions.";
  const { length } = canonicalJson(conditions);
  // Its author saw the arguments of a caller, who chose how long they are; the log and each later decision have all of it.
  if (length > limits.declaration.characters)
    return `The pattern has ${length} characters; the most are ${limits.declaration.characters}.`;
  const misses = conditions.find((condition) => compileArgument(condition, "grant")(asked) !== true);
  return misses
    ? `The pattern does not match the shown arguments: ${JSON.stringify(misses).slice(0, 200)}.`
    : conditions;
}
