import type { CapabilityKind, Need } from "../../capability/capability.ts";
import { hostMatcher } from "../../capability/hosts.ts";
import { touchesKey } from "../../capability/keys.ts";
import { matchName } from "../../capability/names.ts";
import { pathMatcher } from "../../capability/paths.ts";
import { pathToucher } from "../../capability/readings.ts";
import type { Hash } from "../../hash/hash.ts";
import type { JsonObject } from "../../json/json.ts";
import { compilePointer, type ReadPointer } from "./arguments.ts";
import { compileCondition, type ConditionTest } from "./condition.ts";
import type { CountCondition, PolicyRule, RuleCondition } from "../document/policy.ts";

/** A rule that is ready to be tried. */
export interface LoadedRule {
  readonly rule: PolicyRule;
  readonly hash: string;
  /** All conditions but those of requests and counters. */
  readonly tests: readonly ConditionTest[];
  readonly count?: LoadedCount;
  /** Only for a rule about requests. */
  readonly concerns?: (need: Need) => boolean;
  /** It is the rate that the policy sets for a tool, and no rule of an author. */
  readonly isRate?: true;
}

export interface LoadedCount {
  readonly condition: CountCondition;
  /** `undefined`: calls are counted. */
  readonly read: ReadPointer | undefined;
  /** Whether the condition holds for what was used before and what this call adds. */
  readonly holds: (before: number, amount: number) => boolean;
}

type RequestCondition = "host" | "path" | "method" | "command" | "database" | "key" | "calls" | "secret";

/** Conditions that only a request can show, and the kinds of request that can show them. */
export const requestConditions: Readonly<Record<RequestCondition, readonly CapabilityKind[]>> = {
  host: ["net.read", "net.write", "secret.use"],
  path: ["net.read", "net.write", "fs.read", "fs.write"],
  method: ["net.read", "net.write"],
  command: ["process.spawn"],
  database: ["db.read", "db.write"],
  key: ["kv.read", "kv.write"],
  calls: ["tool.call"],
  secret: ["secret.use"],
};

export function isAboutRequests(when: RuleCondition): boolean {
  return Object.keys(requestConditions).some((name) => when[name as RequestCondition] !== undefined);
}

export function loadRule(rule: PolicyRule, by: Hash): LoadedRule {
  const { when } = rule;
  const aboutRequests = isAboutRequests(when);
  return {
    rule,
    hash: by.json(rule as unknown as JsonObject),
    tests: compileCondition(when, aboutRequests, rule.effect === "allow" ? "grant" : "deny"),
    ...(when.count && { count: loadCount(when.count) }),
    ...(aboutRequests && { concerns: compileRequest(when) }),
  };
}

function loadCount(condition: CountCondition): LoadedCount {
  return {
    condition,
    read: condition.sum === undefined ? undefined : compilePointer(condition.sum),
    holds:
      "moreThan" in condition
        ? (before, amount) => before + amount > condition.moreThan
        : (before, amount) => before + amount <= condition.atMost,
  };
}

/**
 * What each condition says of a request that can show it. Such a rule denies, so each takes all that could be meant. Paths of the network are prefixes,
 * those of files are globs, as in grants.
 */
const requestTests: Record<RequestCondition, (patterns: readonly string[]) => (need: Need) => boolean> = {
  host: (patterns) => {
    const matches = hostMatcher(patterns);
    return (need) => "host" in need && matches(need.host, true);
  },
  path: (patterns) => {
    const isPrefix = (each: string): boolean => each.startsWith("/");
    const touches = pathToucher(patterns.filter(isPrefix));
    const matches = pathMatcher(
      patterns.filter((each) => !isPrefix(each)),
      "deny",
    );
    return (need) => "path" in need && ("host" in need ? touches : matches)(need.path);
  },
  method: (methods) => (need) => "method" in need && methods.includes(need.method),
  command: (commands) => (need) => "command" in need && commands.includes(need.command),
  database: (patterns) => (need) => "database" in need && patterns.some((each) => matchName(each, need.database)),
  key: (patterns) => (need) => "key" in need && patterns.some((each) => touchesKey(each, need)),
  calls: (patterns) => (need) => need.kind === "tool.call" && patterns.some((each) => matchName(each, need.tool)),
  secret: (patterns) => {
    const names = patterns.map(secretName);
    return (need) => need.kind === "secret.use" && names.some((each) => matchName(each, secretName(need.name)));
  },
};

/** Where secrets are kept, in an environment for one, `api-key` and `API_KEY` can be one. */
function secretName(name: string): string {
  return name.toLowerCase().replaceAll("-", "_");
}

function compileRequest(when: RuleCondition): (need: Need) => boolean {
  const { capability } = when;
  const tests = Object.entries(requestTests).flatMap(([name, compile]) => {
    const patterns = when[name as RequestCondition];
    return patterns ? [compile(patterns)] : [];
  });
  return (need) => (capability?.includes(need.kind) ?? true) && tests.every((test) => test(need));
}
