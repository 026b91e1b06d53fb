import * as cedar from "@cedar-policy/cedar-wasm/nodejs";
import type { ArgumentCondition, PolicyRule, RuleCondition } from "@keyhole/kernel";
import { wordsFrom } from "../support/random.ts";
import { decisionBy, inputOf, loaded } from "./support.ts";

const tools = ["pay", "read", "send"];
const callers = ["ada", "eve", "bob"];
const categories = ["web", "files"];
const texts = ["", "a", "ab", "b*", 'q"\\', "é"];

type Random = (below: number) => number;

function belowFrom(seed: number): Random {
  const next = wordsFrom(seed);
  return (below) => next() % below;
}

const pick = <T>(random: Random, list: readonly T[]): T => list[random(list.length)]!;
const subset = <T>(random: Random, list: readonly T[]): readonly [T, ...T[]] => {
  const chosen = list.filter(() => random(2) === 0);
  return [chosen[0] ?? pick(random, list), ...chosen.slice(1)];
};

function randomArgument(random: Random): ArgumentCondition {
  const number = random(5);
  const text = pick(random, texts);
  const operators: readonly ArgumentCondition[] = [
    { at: "/amount", equals: number },
    { at: "/amount", differs: number },
    { at: "/amount", in: [number, number + 1] },
    { at: "/amount", notIn: [number, number + 2] },
    { at: "/amount", lessThan: number },
    { at: "/amount", atMost: number },
    { at: "/amount", moreThan: number },
    { at: "/amount", atLeast: number },
    { at: "/note", exists: true },
    { at: "/note", exists: false },
    { at: "/note", equals: text },
    { at: "/note", differs: text },
    { at: "/note", startsWith: text || "a" },
    { at: "/note", endsWith: text || "b" },
    { at: "/note", contains: text || "*" },
    { at: "/tags", contains: text || "a" },
    { at: "/nested/flag", equals: random(2) === 0 },
  ];
  return pick(random, operators);
}

function randomRule(random: Random, index: number): PolicyRule {
  const when: RuleCondition = {
    ...(random(2) === 0 && { tool: subset(random, tools) }),
    ...(random(3) === 0 && { caller: subset(random, callers) }),
    ...(random(4) === 0 && { category: subset(random, categories) }),
    ...(random(4) === 0 && { tier: subset(random, [0, 1, 2] as const) }),
    ...(random(2) === 0 && { arguments: Array.from({ length: 1 + random(2) }, () => randomArgument(random)) }),
  };
  return { id: `r${index}`, effect: pick(random, ["allow", "ask", "deny"] as const), when, reason: "x" };
}

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

interface Call {
  readonly tool: string;
  readonly caller: string;
  readonly category: string;
  readonly tier: 0 | 1 | 2;
  readonly input: Record<string, string | number | string[] | Record<string, boolean>>;
}

function randomCall(random: Random): Call {
  return {
    tool: pick(random, tools),
    caller: pick(random, callers),
    category: pick(random, categories),
    tier: pick(random, [0, 1, 2] as const),
    input: {
      amount: random(6),
      tags: texts.filter(() => random(3) === 0),
      nested: { flag: random(2) === 0 },
      ...(random(2) === 0 && { note: `${pick(random, texts)}${pick(random, texts)}` }),
    },
  };
}

function askCedar(
  name: string,
  { tool, caller, category, tier, input }: Call,
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
  call: Call,
): { readonly decision: string; readonly by: readonly string[] } {
  const first = askCedar(deny, call);
  if (first.decision === "deny" && first.by.length > 0) return first;
  const second = askCedar(ask, call);
  if (second.decision === "deny" && second.by.length > 0) return { decision: "ask", by: second.by };
  return first.decision === "allow" ? first : { decision: "posture", by: [] };
}

/** Random policies and calls, decided by both. Gives how many pairs there were and the first disagreements. */
export function compareWithCedar(
  pairs: number,
  seed: number,
): {
  readonly pairs: number;
  readonly disagreements: readonly string[];
  readonly decisions: Readonly<Record<string, number>>;
} {
  const random = belowFrom(seed);
  const disagreements: string[] = [];
  const decisions: Record<string, number> = { allow: 0, ask: 0, deny: 0, posture: 0 };
  const callsPerPolicy = 100;
  let done = 0;
  while (done < pairs) {
    const rules = Array.from({ length: 1 + random(8) }, (_, index) => randomRule(random, index));
    const policy = loaded({ posture: "permissive", rules });
    const [deny, ask] = [prepare(rules, "deny"), prepare(rules, "ask")];
    for (let i = 0; i < callsPerPolicy && done < pairs; i++, done++) {
      const call = randomCall(random);
      const expected = expectedBy(deny, ask, call);
      const { tool: name, ...more } = call;
      const verdict = decisionBy(policy, inputOf({ name, ...more }));
      const actual = {
        decision: verdict.reasonCode === "rule" ? verdict.decision : verdict.reasonCode,
        by: verdict.determining.map(({ rule }) => rule.id).toSorted(),
      };
      decisions[expected.decision]!++;
      if (
        JSON.stringify([actual.decision, actual.by]) !== JSON.stringify([expected.decision, expected.by]) &&
        disagreements.length < 5
      )
        disagreements.push(JSON.stringify({ rules, call, expected, actual }));
    }
  }
  return { pairs: done, disagreements, decisions };
}
