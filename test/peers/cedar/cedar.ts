import * as cedar from "@cedar-policy/cedar-wasm/nodejs";
import type { ArgumentCondition, PolicyRule } from "@keyhole/kernel";
import type { PolicyCall, PolicyCases } from "../../policy/random-cases.ts";

/** Cedar's own escapes in strings, and `*` as itself in a pattern of `like`. */
const quote = (text: string): string => `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
const pattern = (text: string, before: string, after: string): string =>
  `"${before}${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("*", "\\*")}${after}"`;

function translateArgument(condition: ArgumentCondition): string {
  const path = `context${condition.at.replaceAll("/", ".")}`;
  const literal = (value: unknown): string => (typeof value === "string" ? quote(value) : String(value));
  const isNote = condition.at === "/note";
  const present = (test: string): string => (isNote ? `(context has note && ${test})` : `(${test})`);
  if ("exists" in condition) return condition.exists ? "(context has note)" : "(!(context has note))";
  if ("equals" in condition) return present(`${path} == ${literal(condition.equals)}`);
  if ("differs" in condition) return `(!${present(`${path} == ${literal(condition.differs)}`)})`;
  if ("in" in condition) return `([${condition.in.map(literal).join(", ")}].contains(${path}))`;
  if ("notIn" in condition) return `(!([${condition.notIn.map(literal).join(", ")}].contains(${path})))`;
  if ("lessThan" in condition) return `(${path} < ${condition.lessThan})`;
  if ("atMost" in condition) return `(${path} <= ${condition.atMost})`;
  if ("moreThan" in condition) return `(${path} > ${condition.moreThan})`;
  if ("atLeast" in condition) return `(${path} >= ${condition.atLeast})`;
  if ("startsWith" in condition) return present(`${path} like ${pattern(condition.startsWith, "", "*")}`);
  if ("endsWith" in condition) return present(`${path} like ${pattern(condition.endsWith, "*", "")}`);
  if ("contains" in condition)
    return isNote
      ? present(`${path} like ${pattern(condition.contains, "*", "*")}`)
      : `(${path}.contains(${quote(condition.contains)}))`;
  throw new TypeError("not in the common subset");
}

/** The subset that both know: names, tiers, and arguments without errors. */
function translate({ when }: PolicyRule, effect: "permit" | "forbid"): string {
  const among = (values: readonly unknown[], what: string): string =>
    `([${values.map((each) => JSON.stringify(each)).join(", ")}].contains(${what}))`;
  const conditions = [
    ...(when.tool ? [among(when.tool, "context.tool")] : []),
    ...(when.caller ? [`(${when.caller.map((caller) => `principal == Caller::${quote(caller)}`).join(" || ")})`] : []),
    ...(when.category ? [among(when.category, "context.category")] : []),
    ...(when.tier ? [among(when.tier, "context.tier")] : []),
    ...(when.arguments ?? []).map(translateArgument),
  ];
  return `${effect}(principal, action, resource)${conditions.length > 0 ? ` when { ${conditions.join(" && ")} }` : ""};`;
}

let parsedSets = 0;

/** Cedar knows two effects: the three are asked for in two steps. */
function prepare(rules: readonly PolicyRule[], forbidding: "ask" | "deny"): string {
  const chosen = rules.filter(({ effect }) => effect === "allow" || effect === forbidding);
  const staticPolicies = Object.fromEntries(
    chosen.map((rule) => [rule.id, translate(rule, rule.effect === "allow" ? "permit" : "forbid")]),
  );
  // Sets are kept by name for good: a few names are used in turn.
  const name = `set-${parsedSets++ % 8}`;
  const parsed = cedar.preparsePolicySet(name, { staticPolicies });
  if (parsed.type !== "success") throw new Error(JSON.stringify(parsed).slice(0, 1_000));
  return name;
}

function askCedar(
  name: string,
  { tool, caller, category, tier, input }: PolicyCall,
): { readonly decision: "allow" | "deny"; readonly by: readonly string[] } {
  const answer = cedar.statefulIsAuthorized({
    principal: { type: "Caller", id: caller },
    action: { type: "Action", id: "call" },
    resource: { type: "Tool", id: tool },
    context: { ...input, tool, category, tier },
    preparsedPolicySetId: name,
    entities: [],
  });
  if (answer.type !== "success" || answer.response.diagnostics.errors.length > 0)
    throw new Error(JSON.stringify(answer).slice(0, 1_000));
  return { decision: answer.response.decision, by: answer.response.diagnostics.reason.toSorted() };
}

function expectedBy(
  deny: string,
  ask: string,
  call: PolicyCall,
): { readonly decision: string; readonly by: readonly string[] } {
  const first = askCedar(deny, call);
  if (first.decision === "deny" && first.by.length > 0) return first;
  const second = askCedar(ask, call);
  if (second.decision === "deny" && second.by.length > 0) return { decision: "ask", by: second.by };
  return first.decision === "allow" ? first : { decision: "posture", by: [] };
}

/** The decisions of Cedar, written as those of Keyhole. */
export function cedarDecisions({ rules, calls }: PolicyCases): string[] {
  const [deny, ask] = [prepare(rules, "deny"), prepare(rules, "ask")];
  return calls.map((call) => {
    const { decision, by } = expectedBy(deny, ask, call);
    return [decision, ...by].join(" ");
  });
}
