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

export interface PolicyCall {
  readonly tool: string;
  readonly caller: string;
  readonly category: string;
  readonly tier: 0 | 1 | 2;
  readonly input: Record<string, string | number | string[] | Record<string, boolean>>;
}

function randomCall(random: Random): PolicyCall {
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

export interface PolicyCases {
  readonly rules: readonly PolicyRule[];
  readonly calls: readonly PolicyCall[];
}

/** Random policies of one to eight rules, each with its calls, in the subset of conditions that Cedar has too. */
export function randomCases(seed: number, policies: number, callsPerPolicy: number): PolicyCases[] {
  const random = belowFrom(seed);
  return Array.from({ length: policies }, () => ({
    rules: Array.from({ length: 1 + random(8) }, (_, index) => randomRule(random, index)),
    calls: Array.from({ length: callsPerPolicy }, () => randomCall(random)),
  }));
}

/** What recorded decisions were made for. */
export const recordedCases: readonly PolicyCases[] = randomCases(2, 100, 10);

/** The decisions of Keyhole: `deny r0 r3` with the rules that determine it, or `posture` where no rule does. */
function decisionsOf({ rules, calls }: PolicyCases): string[] {
  const policy = loaded({ posture: "permissive", rules });
  return calls.map(({ tool: name, ...more }) => {
    const verdict = decisionBy(policy, inputOf({ name, ...more }));
    const decision = verdict.reasonCode === "rule" ? verdict.decision : verdict.reasonCode;
    return [decision, ...verdict.determining.map(({ rule }) => rule.id).toSorted()].join(" ");
  });
}

/** The cases where the decisions differ, each with its rules and its call; at most five. */
export function disagreements(
  cases: readonly PolicyCases[],
  expected: (policy: PolicyCases, index: number) => readonly string[],
): string[] {
  const found = cases.flatMap((policy, index) => {
    const [wanted, actual] = [expected(policy, index), decisionsOf(policy)];
    return policy.calls.flatMap((call, at) =>
      actual[at] === wanted[at]
        ? []
        : [JSON.stringify({ rules: policy.rules, call, expected: wanted[at], actual: actual[at] })],
    );
  });
  return found.slice(0, 5);
}

/** How often each way of deciding is met. */
export function countsOf(decisions: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = { allow: 0, ask: 0, deny: 0, posture: 0 };
  for (const decision of decisions) counts[decision.split(" ")[0] ?? ""]!++;
  return counts;
}
