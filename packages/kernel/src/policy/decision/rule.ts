import type { Family, OwnNeed } from "../../capability/family.ts";
import { areTexts } from "../../capability/fields.ts";
import type { Families } from "../../capability/registry.ts";
import type { Hash } from "../../hash/hash.ts";
import { compilePointer, type ReadPointer } from "../../json/pointer.ts";
import { type ArgumentTest, argumentTest, asTest } from "./arguments.ts";
import type { Face } from "../../capability/matching/paths.ts";
import { compileCondition, type ConditionTest } from "./condition.ts";
import type { CountCondition, PolicyRule, RuleCondition } from "../document/policy.ts";
import { hasOwn } from "../../support/guards.ts";

/** A rule, ready to try. */
export interface LoadedRule {
  readonly rule: PolicyRule;
  readonly hash: string;
  /** All conditions but those of requests and counters. */
  readonly tests: readonly ConditionTest[];
  /** The test of a rule whose one condition is about one argument. */
  readonly only: ArgumentTest | undefined;
  readonly count?: LoadedCount;
  /** Only for a rule about requests. */
  readonly concerns?: (need: OwnNeed) => boolean;
  /** It is the rate that the policy sets for a tool, and no rule of an author. */
  readonly isRate?: true;
}

export interface LoadedCount {
  readonly condition: CountCondition;
  /** `undefined`: the rule counts calls. */
  readonly read: ReadPointer | undefined;
  /** Whether the condition holds for what was used before and what this call adds. */
  readonly holds: (before: number, amount: number) => boolean;
}

/** Whether a rule has a condition that only a request can show. */
export function isAboutRequests(when: RuleCondition, families: Families): boolean {
  return namedIn(when, families).length > 0;
}

/** The conditions about requests that a rule has, with their patterns. */
function namedIn(when: RuleCondition, { conditions }: Families): readonly (readonly [string, readonly string[]])[] {
  const lists = new Map<string, unknown>(Object.entries(when));
  return [...conditions.keys()].flatMap((name) => {
    const patterns = lists.get(name);
    return areTexts(patterns) ? [[name, patterns] as const] : [];
  });
}

/** Whether requests of one family can show all conditions of a rule. */
export function canShow(family: Family, when: RuleCondition, families: Families): boolean {
  return (
    (when.capability?.some((kind) => kind === family.kind) ?? true) &&
    namedIn(when, families).every(([name, patterns]) => {
      const condition = family.conditions.get(name);
      return condition !== undefined && patterns.some(condition.isOwn);
    })
  );
}

export function loadRule(rule: PolicyRule, families: Families, by: Hash): LoadedRule {
  const { when } = rule;
  const aboutRequests = isAboutRequests(when, families);
  const face = rule.effect === "allow" ? "grant" : "deny";
  const only = onlyArgument(when, face);
  return {
    rule,
    hash: by.json(rule),
    only,
    tests: only ? [asTest(only)] : compileCondition(when, aboutRequests, face),
    ...(when.count && { count: loadCount(when.count) }),
    ...(aboutRequests && { concerns: compileRequest(when, families) }),
  };
}

function onlyArgument(when: RuleCondition, face: Face): ArgumentTest | undefined {
  const [argument, ...others] = when.arguments ?? [];
  const isOnly = argument !== undefined && others.length === 0 && Object.keys(when).length === 1;
  return isOnly ? argumentTest(argument, face) : undefined;
}

function loadCount(condition: CountCondition): LoadedCount {
  return {
    condition,
    read: condition.sum === undefined ? undefined : compilePointer(condition.sum),
    holds: hasOwn(condition, "moreThan")
      ? (before, amount) => before + amount > condition.moreThan
      : (before, amount) => before + amount <= condition.atMost,
  };
}

/** Such a rule denies, so each condition takes all that could be meant. */
function compileRequest(when: RuleCondition, families: Families): (need: OwnNeed) => boolean {
  const named = namedIn(when, families);
  const tests = new Map<Family, readonly ((need: OwnNeed) => boolean)[]>();
  for (const family of families) {
    const own = named.flatMap(([name, patterns]) => family.conditions.get(name)?.touches(patterns) ?? []);
    tests.set(family, canShow(family, when, families) ? own : [() => false]);
  }
  // The policy knows nothing of a need of an unknown family.
  return (need) => tests.get(need.family)?.every((test) => test(need)) ?? true;
}
