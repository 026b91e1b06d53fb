import type { Need } from "../../capability/capability.ts";
import { targetOf } from "../../capability/describe.ts";
import { hostMatcher, isReached } from "../../capability/hosts.ts";
import { matchKey, touchesKey } from "../../capability/keys.ts";
import { matchName } from "../../capability/names.ts";
import { type Face, pathMatcher } from "../../capability/paths.ts";
import { type DecisionInput, holdsAll } from "./condition.ts";
import type { Policy } from "../document/load.ts";
import type { Governed, ToolGovernance } from "../document/policy.ts";

/** What the policy says to the requests of one call, over and above its grants. */
export interface RequestPolicy {
  /** Why a request is refused, as a sentence. */
  refusal(need: Need): string | undefined;
  /** No file may be larger. */
  readonly fileBytes: number;
}

/** Everything about requests that can be settled for the call is settled at its first one; most calls make none. Each request then meets what is left. */
export function requestPolicyOf(policy: Policy, input: DecisionInput): RequestPolicy {
  let settled: RequestPolicy | undefined;
  return {
    fileBytes: policy.governance(input.manifest.name)?.sizes?.fileBytes ?? Infinity,
    refusal: (need) => (settled ??= settle(policy, input)).refusal(need),
  };
}

function settle(policy: Policy, input: DecisionInput): RequestPolicy {
  // A rule that cannot say whether it concerns the call denies.
  const rules = policy.requestRules(input).filter(({ tests }) => holdsAll(tests, input) !== false);
  const governance = policy.governance(input.manifest.name) ?? {};
  const { name } = input.manifest;
  const fileBytes = governance.sizes?.fileBytes ?? Infinity;
  const tests = Object.entries(governed).flatMap(([field, governs]) => {
    const lists = governance[field as keyof typeof governed];
    return lists ? [governs(lists)] : [];
  });
  return {
    fileBytes,
    refusal: (need) => {
      for (const refused of tests) {
        const what = refused(need);
        if (what !== undefined) return `The policy does not let ${name} reach ${what}.`;
      }
      if ("path" in need && "bytes" in need && (need.bytes ?? 0) > fileBytes)
        return `The policy gives ${name} files of at most ${fileBytes} bytes.`;
      const rule = rules.find(({ concerns }) => concerns?.(need))?.rule;
      return rule && `${rule.reason} (Rule ${rule.id}.)`;
    },
  };
}

/** What of a request a tool may not reach; `undefined` where the lists do not concern it. */
type Refused = (need: Need) => string | undefined;
type Matcher = (patterns: readonly string[], face: Face) => (value: string, need: Need) => boolean;

function lists(
  { allowed, forbidden = [] }: Governed,
  matcher: Matcher,
  read: (need: Need) => string | undefined,
): Refused {
  const isAllowed = allowed && matcher(allowed, "grant");
  const isForbidden = matcher(forbidden, "deny");
  return (need) => {
    const value = read(need);
    return value !== undefined && (isForbidden(value, need) || isAllowed?.(value, need) === false) ? value : undefined;
  };
}

const someOf =
  (matches: (pattern: string, value: string) => boolean): Matcher =>
  (patterns) =>
  (value) =>
    patterns.some((pattern) => matches(pattern, value));

const matchesHost: Matcher = (patterns, face) => {
  const matches = hostMatcher(patterns);
  return (host, need) => matches(host, face === "deny" || isReached(need as Extract<Need, { host: string }>));
};

/** One for each pair of lists that a tool can have. */
const governed = {
  hosts: (given: Governed) => lists(given, matchesHost, (need) => ("host" in need ? need.host : undefined)),
  paths: (given: Governed) =>
    lists(given, pathMatcher, (need) => ("path" in need && !("host" in need) ? need.path : undefined)),
  commands: (given: Governed) =>
    lists(given, someOf(Object.is), (need) => ("command" in need ? need.command : undefined)),
  databases: (given: Governed) =>
    lists(given, someOf(matchName), (need) => ("database" in need ? need.database : undefined)),
  calls: (given: Governed) =>
    lists(given, someOf(matchName), (need) => (need.kind === "tool.call" ? need.tool : undefined)),
  keys:
    ({ allowed, forbidden = [] }: Governed) =>
    (need: Need) =>
      "key" in need &&
      (forbidden.some((each) => touchesKey(each, need)) || allowed?.some((each) => matchKey(each, need.key)) === false)
        ? targetOf(need)
        : undefined,
} as const satisfies Partial<Record<keyof ToolGovernance, (lists: Governed) => Refused>>;
