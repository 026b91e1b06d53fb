import type { Need } from "../capability/capability.ts";
import { hostMatcher } from "../capability/hosts.ts";
import { matchPath } from "../capability/paths.ts";
import { isPathPrefix } from "../capability/covers.ts";
import { hashJson } from "../normalize/hash.ts";
import type { JsonObject } from "../normalize/json.ts";
import { compilePointer, type ReadPointer } from "./arguments.ts";
import { compileCondition, type ConditionTest } from "./condition.ts";
import type { CountCondition, PolicyRule, RuleCondition } from "./policy.ts";

/** A rule that is ready to be tried. */
export interface LoadedRule {
  readonly rule: PolicyRule;
  readonly hash: string;
  /** All conditions but those of requests and counters. */
  readonly tests: readonly ConditionTest[];
  readonly count?: LoadedCount;
  /** Only for a rule about requests. */
  readonly concerns?: (need: Need) => boolean;
}

export interface LoadedCount {
  readonly condition: CountCondition;
  /** `undefined`: calls are counted. */
  readonly read: ReadPointer | undefined;
  /** Whether the condition holds for what was used before and what this call adds. */
  readonly holds: (before: number, amount: number) => boolean;
}

export function isAboutRequests({ host, path, method }: RuleCondition): boolean {
  return host !== undefined || path !== undefined || method !== undefined;
}

export function loadRule(rule: PolicyRule): LoadedRule {
  const { when } = rule;
  const aboutRequests = isAboutRequests(when);
  return {
    rule,
    hash: hashJson(rule as unknown as JsonObject),
    tests: compileCondition(when, aboutRequests),
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

/** Paths of the network are prefixes, those of files are globs, as in grants. */
function compileRequest({ capability, host, path, method }: RuleCondition): (need: Need) => boolean {
  const isHost = host && hostMatcher(host);
  return (need) => {
    if (capability && !capability.includes(need.kind)) return false;
    if (need.kind === "clock" || need.kind === "random") return false;
    const isNetwork = need.kind === "net.read" || need.kind === "net.write";
    if (isHost && !("host" in need && isHost(need.host))) return false;
    if (method && !(isNetwork && method.includes(need.method))) return false;
    if (!path) return true;
    if (!("path" in need)) return false;
    return path.some((each) =>
      isNetwork
        ? each.startsWith("/") && isPathPrefix(each, need.path)
        : !each.startsWith("/") && matchPath(each, need.path),
    );
  };
}
