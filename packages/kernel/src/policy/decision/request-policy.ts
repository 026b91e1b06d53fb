import { type Family, isGoverned, type OwnNeed } from "../../capability/family.ts";
import type { Policy } from "../document/make.ts";
import type { DecisionInput } from "./condition.ts";
import type { LoadedRule } from "./rule.ts";

/** The policy for the requests of one call, beyond its grants. */
export interface RequestPolicy {
  /** The reason of the refusal of a request, as a sentence. */
  refusal(need: OwnNeed): string | undefined;
  /** The largest size of a request. */
  limit(need: OwnNeed): number;
}

/** The facts of a decision that change while the call runs. Other labels are another array. */
export type RunningFacts = Pick<DecisionInput, "mode" | "labels" | "nowMs">;

/**
 * Everything about requests that can be settled for the call is settled at its first one; most calls make none. Each request then meets what is left, and
 * the rules are settled again where a fact has changed.
 *
 * @param facts read at each request. Default: those of the decision
 */
export function requestPolicyOf(
  policy: Policy,
  input: DecisionInput,
  facts: () => RunningFacts = () => input,
): RequestPolicy {
  let settled: RequestPolicy["refusal"] | undefined;
  const { sizes = {} } = policy.governance(input.manifest.name) ?? {};
  const limit = ({ family: { sizeName } }: OwnNeed): number => {
    const size: unknown = Object.entries(sizes).find(([name]) => name === sizeName)?.[1];
    return typeof size === "number" ? size : Infinity;
  };
  return { limit, refusal: (need) => (settled ??= settle(policy, input, facts, limit))(need) };
}

function settle(
  policy: Policy,
  input: DecisionInput,
  facts: () => RunningFacts,
  limit: RequestPolicy["limit"],
): RequestPolicy["refusal"] {
  const rules = rulesOf(policy, input, facts);
  const { name } = input.manifest;
  const refused = listsOf(policy, name);
  return (need) => {
    for (const test of refused.get(need.family) ?? []) {
      const what = test(need);
      if (what !== undefined) return `The policy does not let ${name} reach ${what}.`;
    }
    if (need.size > limit(need))
      return `The policy gives ${name} at most ${limit(need)} bytes (\`${need.family.sizeName}\`).`;
    const rule = rules().find(({ concerns }) => concerns?.(need))?.rule;
    return rule && `${rule.reason} (Rule ${rule.id}.)`;
  };
}

/** The rules for the requests of the call, as they stand at each. */
function rulesOf(policy: Policy, input: DecisionInput, facts: () => RunningFacts): () => readonly LoadedRule[] {
  let settled: RunningFacts | undefined;
  let rules: readonly LoadedRule[] = [];
  return () => {
    const { mode, labels, nowMs: laterMs } = facts();
    const nowMs = policy.hasTimedRequests ? laterMs : input.nowMs;
    if (settled?.mode === mode && settled.labels === labels && settled.nowMs === nowMs) return rules;
    settled = { mode, labels, nowMs };
    return (rules = policy.requestRules({ ...input, ...settled }));
  };
}

type Refused = (need: OwnNeed) => string | undefined;

/** The lists of one tool that apply to the requests of each family. */
function listsOf({ families, governance }: Policy, tool: string): ReadonlyMap<Family, readonly Refused[]> {
  const governed = governance(tool);
  if (!governed) return new Map();
  const lists = new Map<string, unknown>(Object.entries(governed));
  const testsOf = ({ conditions }: Family): readonly Refused[] =>
    [...conditions.values()].flatMap(({ list }) => {
      const given = list && lists.get(list.name);
      return list && isGoverned(given) ? [list.refused(given)] : [];
    });
  return new Map(Array.from(families, (family) => [family, testsOf(family)]));
}
