import { type Mode, tierNames, type Tier, type ToolManifest } from "../tool/manifest.ts";
import type { LoadedRule, Policy } from "./load.ts";
import { modeAnswer } from "./mode.ts";
import type { Decision, Posture, RuleCondition } from "./policy.ts";
import type { ReasonCode } from "./proof.ts";

/** What a rule can look at. */
export interface DecisionInput {
  readonly manifest: ToolManifest;
  readonly caller: string;
  readonly sessionId: string;
  readonly mode: Mode;
}

export interface Verdict {
  readonly decision: Decision;
  readonly reasonCode: ReasonCode;
  /** One sentence for the person who is asked or refused. */
  readonly reason: string;
  readonly determining: readonly LoadedRule[];
  readonly considered: number;
}

/** Tiers 0 to 4, left to right. */
const postureAnswers = {
  strict: ["allow", "ask", "ask", "deny", "deny"],
  standard: ["allow", "allow", "ask", "ask", "deny"],
  permissive: ["allow", "allow", "allow", "ask", "deny"],
} as const satisfies Record<Posture, readonly [Decision, Decision, Decision, Decision, Decision]>;

export function postureAnswer(posture: Posture, tier: Tier): Decision {
  return postureAnswers[posture][tier];
}

const strictness = { allow: 0, ask: 1, deny: 2 } as const satisfies Record<Decision, number>;

/**
 * One decision. Among matching rules deny beats ask beats allow; where none matches, the posture's answer for the tier stands. A rule lifts the
 * posture's `ask`, never its `deny`. Mode and the tool's own wishes come on top and only tighten.
 */
export function decide(policy: Policy, input: DecisionInput): Verdict {
  const considered = policy.rules.length;
  const byRule = decideByRules(policy, input);
  const { manifest, mode } = input;
  const tightened: Verdict[] = [byRule];
  if (manifest.modes !== undefined && !manifest.modes.includes(mode)) {
    tightened.push({
      decision: "deny",
      reasonCode: "tool-mode",
      reason: `The tool does not run in mode ${mode}.`,
      determining: [],
      considered,
    });
  }
  tightened.push({
    decision: modeAnswer(mode, manifest),
    reasonCode: "mode",
    reason: `Mode ${mode} restricts tools of this kind.`,
    determining: [],
    considered,
  });
  if (manifest.approval === "always") {
    tightened.push({
      decision: "ask",
      reasonCode: "tool-approval",
      reason: "The tool asks before every call.",
      determining: [],
      considered,
    });
  }
  return tightened.reduce((strictest, verdict) =>
    strictness[verdict.decision] > strictness[strictest.decision] ? verdict : strictest,
  );
}

function decideByRules(policy: Policy, input: DecisionInput): Verdict {
  const { posture } = policy.document;
  const { tier } = input.manifest;
  const considered = policy.rules.length;
  const base = postureAnswer(posture, tier);
  const byPosture: Verdict = {
    decision: base,
    reasonCode: "posture",
    reason: `Posture ${posture} answers ${base} for tier ${tier} (${tierNames[tier]}).`,
    determining: [],
    considered,
  };
  const matching = policy.rules.filter(({ rule }) => matches(rule.when, input));
  if (matching.length === 0) return byPosture;
  const effect = matching.reduce<Decision>(
    (worst, { rule }) => (strictness[rule.effect] > strictness[worst] ? rule.effect : worst),
    "allow",
  );
  if (base === "deny" && effect !== "deny") return byPosture;
  const determining = matching.filter(({ rule }) => rule.effect === effect);
  return { decision: effect, reasonCode: "rule", reason: determining[0]!.rule.reason, determining, considered };
}

function matches(when: RuleCondition, { manifest, caller, sessionId, mode }: DecisionInput): boolean {
  return (
    includes(when.tool, manifest.name) &&
    includes(when.category, manifest.category) &&
    includes(when.tier, manifest.tier) &&
    includes(when.risk, manifest.risk) &&
    includes(when.mode, mode) &&
    includes(when.caller, caller) &&
    includes(when.session, sessionId) &&
    (when.effects === undefined || manifest.effects.some((effect) => when.effects!.includes(effect)))
  );
}

function includes<T>(list: readonly T[] | undefined, value: T | undefined): boolean {
  return list === undefined || (value !== undefined && list.includes(value));
}
