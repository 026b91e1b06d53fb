import type { JsonValue } from "../../../json/json.ts";
import type { Policy } from "../../document/make.ts";
import type { Decision } from "../../document/policy.ts";
import type { ReasonCode } from "../../proof/proof.ts";
import { type Draft, inputOf } from "./draft.ts";
import type { Found, Leaf, Ways } from "./graph.ts";
import { type LimitDifference, limitDifferences, openBudgets } from "./limit-differences.ts";
import { search } from "./search.ts";

export type { LimitDifference } from "./limit-differences.ts";

/** The answer of one policy to a call. */
export interface SaidOfCall {
  readonly decision: Decision;
  /** Only of `ask`. */
  readonly passkey?: true;
  readonly reasonCode: ReasonCode;
  readonly reason: string;
  /** Rules that decided, by id. */
  readonly rules: readonly string[];
}

/** A call that the kernel decided under both policies. */
export interface ComparedCall {
  readonly tool: string;
  readonly version: string;
  readonly tier: number;
  readonly caller: string;
  readonly session: string;
  readonly mode: string;
  readonly category?: string;
  readonly risk?: string;
  readonly effects: readonly string[];
  readonly labels: readonly string[];
  readonly time: string;
  readonly arguments: JsonValue;
  /** Bytes of the input, where a size counts. */
  readonly inputBytes?: number;
  /** The counts before the call. */
  readonly counts: readonly number[];
  /** The request that the call makes. */
  readonly request?: JsonValue;
}

/** Calls that the policies answer differently, for one pair of reasons. */
export interface CallDifference {
  readonly sentence: string;
  readonly a: SaidOfCall;
  readonly b: SaidOfCall;
  /** Classes of calls that this stands for. */
  readonly classes: number;
  /** Some values of each dimension that matters. Another call of these values can still be answered alike where a clause of both policies decides it. */
  readonly where: Readonly<Record<string, readonly string[]>>;
  readonly example: ComparedCall;
}

export interface PolicyDifference {
  readonly differs: boolean;
  /** Calls that B allows and A does not. */
  readonly allows: readonly CallDifference[];
  /** Calls that B denies and A does not. */
  readonly denies: readonly CallDifference[];
  /** Calls that B asks about and A does not, or asks about in another way. */
  readonly asks: readonly CallDifference[];
  /** Differences in the limits of calls that run under both. */
  readonly limits: readonly LimitDifference[];
  /** Dimensions that were not gone through whole: there may be more differences. */
  readonly capped: readonly { readonly dimension: string; readonly reason: string }[];
  /** The number of tests. */
  readonly tests: number;
}

/**
 * Which calls policy B answers otherwise than policy A: decided over the product of the boundary values of all dimensions that either policy mentions. Each example was
 * decided by the kernel under both.
 *
 * @param mostTests Tests of one value against one clause, and other work in their measure: a few seconds. Default 10,000,000.
 *
 * @example
 * const { allows, capped } = diffPolicies(before, after);
 * for (const { sentence } of allows) console.log(sentence);
 */
export function diffPolicies(a: Policy, b: Policy, mostTests: number = 10_000_000): PolicyDifference {
  const { leaves, ways, capped, tests } = search(a, b, mostTests);
  const groups = new Map<string, Group>();
  for (const leaf of leaves)
    for (const each of leaf.found.values()) {
      const key = JSON.stringify([
        each.levels,
        ...each.verdicts.map(({ reasonCode, determining }) => [reasonCode, determining.map(({ rule }) => rule.id)]),
        each.draft.request?.kind ?? "",
      ]);
      const group = groups.get(key) ?? { found: each, leaves: [] };
      groups.set(key, group);
      group.leaves.push(leaf);
    }
  const all = [...groups.values()].map((group) => ({
    level: group.found.levels[1],
    difference: differenceOf(group, ways),
  }));
  const ofLevel = (...levels: readonly number[]): readonly CallDifference[] =>
    all.flatMap(({ level, difference }) => (levels.includes(level) ? [difference] : []));
  const limits = limitDifferences(a, b);
  return {
    differs: all.length + limits.length > 0,
    allows: ofLevel(0),
    denies: ofLevel(3),
    asks: ofLevel(1, 2),
    limits,
    capped: [
      ...Array.from(capped, ([dimension, reason]) => ({ dimension, reason })),
      ...openBudgets(a, b).map((kind) => ({
        dimension: `limits of ${kind}`,
        reason: "Only one policy has a grant that may give more of what another one limits.",
      })),
    ],
    tests,
  };
}

interface Group {
  readonly found: Found;
  readonly leaves: Leaf[];
}

function differenceOf({ found, leaves }: Group, ways: Ways): CallDifference {
  const { where, ways: classes } = ways.describe(leaves, mostValues);
  const [a, b] = [saidOf(found, 0), saidOf(found, 1)];
  const conditions = [...where]
    .filter(([name]) => name !== "tool")
    .map(([name, values]) => `${name} ${listOf([...values])}`);
  const tools = listOf([...(where.get("tool") ?? [])].map((each) => each.replaceAll('"', "`")));
  const subject = where.has("tool") ? `calls of ${tools}` : "calls of every tool";
  return {
    sentence: `B ${verbs[b.decision]} ${subject}${conditions.length > 0 ? ` with ${conditions.join("; ")}` : ""}${because(b)}. A ${verbs[a.decision]} them${because(a)}.`,
    a,
    b,
    classes,
    where: Object.fromEntries(Array.from(where, ([name, values]) => [name, [...values]])),
    example: comparedCall(found.draft, [...where.keys()]),
  };
}

const mostValues = 20;
const verbs = { allow: "allows", ask: "asks about", deny: "denies" } as const satisfies Record<Decision, string>;

function because({ rules, reasonCode, passkey, reason }: SaidOfCall): string {
  const how = passkey ? ", with a passkey" : "";
  if (rules.length > 0) return `${how} (${rules.length === 1 ? "rule" : "rules"} ${listOf(rules)})`;
  return reasonCode === "posture" ? `${how} (posture)` : `${how} (${reason})`;
}

function listOf(values: readonly string[]): string {
  const short = values.slice(0, 4).map((each) => (each.length > 60 ? `${each.slice(0, 60)}…` : each));
  return `${short.join(", ")}${values.length > 4 ? ` and ${values.length - 4} more` : ""}`;
}

function saidOf({ levels, verdicts }: Found, side: 0 | 1): SaidOfCall {
  const { enforced, decision, reasonCode, reason, determining } = verdicts[side];
  return {
    decision: enforced ? decision : "allow",
    ...(levels[side] === 2 && { passkey: true as const }),
    reasonCode,
    reason,
    rules: determining.map(({ rule }) => rule.id),
  };
}

function comparedCall(draft: Draft, named: readonly string[]): ComparedCall {
  const { tool, version, tier, caller, session, mode, category, risk, kinds, request } = draft;
  return {
    tool,
    version,
    tier,
    caller,
    session,
    mode,
    ...(category !== undefined && { category }),
    ...(risk && { risk }),
    effects: [...new Set([...kinds.keys(), ...(request ? [request.kind] : [])])],
    labels: [...draft.labels],
    time: new Date(draft.nowMs).toISOString(),
    arguments: inputOf(draft),
    ...(named.includes("bytes of the input") && { inputBytes: draft.inputBytes }),
    counts: [...draft.counts.values()],
    // A need is JSON.
    ...(request && { request: request as unknown as JsonValue }),
  };
}
