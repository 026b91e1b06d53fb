import type { OwnNeed } from "../../capability/family.ts";
import type { Families } from "../../capability/registry.ts";
import type { RuleErrorCode } from "../decision/arguments.ts";
import { type DecisionInput, holdsAll } from "../decision/condition.ts";
import type { RuleExample } from "./policy.ts";
import type { LoadedRule } from "../decision/rule.ts";

/** The first example that turns out otherwise, as a place in the rule and a sentence. */
export function failingExample(
  loaded: LoadedRule,
  families: Families,
): { readonly path: string; readonly message: string } | undefined {
  const { match = [], notMatch = [] } = loaded.rule.examples ?? {};
  for (const [name, examples, expected] of [
    ["match", match, true],
    ["notMatch", notMatch, false],
  ] as const) {
    for (const [index, example] of examples.entries()) {
      const actual = tryExample(loaded, example, families);
      if (actual === expected) continue;
      const what =
        typeof actual === "string" ? `fails with ${actual} on it` : actual ? "matches it" : "does not match it";
      return { path: `/examples/${name}/${index}`, message: `The rule ${loaded.rule.id} ${what}.` };
    }
  }
  return undefined;
}

function tryExample(loaded: LoadedRule, example: RuleExample, families: Families): boolean | RuleErrorCode {
  const input = inputOf(example);
  const truth = holdsAll(loaded.tests, input);
  if (truth !== true) return truth;
  if (loaded.concerns) {
    const need = needOf(example, families);
    return need !== undefined && loaded.concerns(need);
  }
  if (!loaded.count) return true;
  const amount = loaded.count.read ? loaded.count.read(input.input) : 1;
  return typeof amount === "number" && amount >= 0 ? loaded.count.holds(example.count ?? 0, amount) : "NOT_A_NUMBER";
}

function inputOf(example: RuleExample): DecisionInput {
  const { tool = "example", version = "1.0.0", category, tier = 0, risk, effects = [], capability } = example;
  return {
    manifest: {
      name: tool,
      version,
      tier,
      effects,
      ...(category !== undefined && { category }),
      ...(risk && { risk }),
    },
    caller: example.caller ?? "anonymous",
    sessionId: example.session ?? "example",
    mode: example.mode ?? "NORMAL",
    input: example.arguments ?? {},
    inputBytes: 0,
    granted: capability ? [capability] : [],
    nowMs: Date.parse(example.time ?? "2026-01-01T00:00:00Z"),
    labels: example.labels ?? [],
  };
}

/** The request that an example means: of the first kind that shows all that it names. */
function needOf({ capability, ...example }: RuleExample, families: Families): OwnNeed | undefined {
  const texts = Object.entries<unknown>(example).flatMap(([name, value]) =>
    families.conditions.has(name) && typeof value === "string" ? [[name, value] as const] : [],
  );
  if (texts.length === 0 && capability === undefined) return undefined;
  for (const { kind, conditions, sample } of families) {
    const isMeant = capability === undefined || kind === capability;
    if (isMeant && sample && texts.every(([name, value]) => conditions.get(name)?.isOwn(value)))
      return sample(Object.fromEntries(texts));
  }
  return undefined;
}
