import { deepFreeze } from "../../json/freeze.ts";
import { type Mode, tierNames, type Tier } from "../../tool/manifest.ts";
import { holdsBack, letsThrough } from "../../tool/modes.ts";
import type { DecisionInput } from "./condition.ts";
import type { Policy } from "../document/make.ts";
import { modeAnswer } from "../modes/mode.ts";
import type { Decision, Posture } from "../document/policy.ts";
import type { StateRead } from "../proof/proof.ts";
import type { LoadedRule } from "./rule.ts";
import type { Tried } from "./rule-set.ts";
import { callReads, labelObligation, labelsRead } from "./state-reads.ts";
import { type Opinion, type ReadCounter, strictness, type Verdict } from "./verdict.ts";

/** Tiers 0 to 4, left to right. */
const postureAnswers = {
  strict: ["allow", "ask", "ask", "deny", "deny"],
  standard: ["allow", "allow", "ask", "ask", "deny"],
  permissive: ["allow", "allow", "allow", "ask", "deny"],
} as const satisfies Record<Posture, readonly [Decision, Decision, Decision, Decision, Decision]>;

/** For the approver or the caller. */
const postureWords = {
  allow: "allows tools of",
  ask: "asks before it runs tools of",
  deny: "does not run tools of",
} as const satisfies Record<Decision, string>;

export function postureAnswer(posture: Posture, tier: Tier): Decision {
  return postureAnswers[posture][tier];
}

/** The strictest; of equals the first. */
function strictest([first, ...others]: readonly [Opinion, ...Opinion[]]): Opinion {
  return others.reduce((worst, each) => (strictness[each.decision] > strictness[worst.decision] ? each : worst), first);
}

/**
 * One decision. Among matching rules deny beats ask beats allow; where none matches, the posture's answer for the tier stands. A rule lifts the
 * posture's `ask`, never its `deny`. The policy's word on the tool, the mode and the tool's own wishes come on top and only tighten.
 */
export function decide(policy: Policy, input: DecisionInput, readCounter: ReadCounter): Verdict {
  const tried = policy.tryRules(input, readCounter);
  const isStanding = tried.matching.length === 0 && policy.governance(input.manifest.name)?.sizes === undefined;
  const conclusion = isStanding ? sharedConclusion(policy, input, tried) : conclude(policy, input, tried);
  const { considered, errors, charges } = tried;
  return { ...conclusion, errors, considered, stateReads: stateReadsOf(policy, input, tried), charges };
}

function stateReadsOf({ allLabels }: Policy, input: DecisionInput, { counts }: Tried): readonly StateRead[] {
  const reads = callReads(input);
  if (allLabels.length > 0) reads.push(labelsRead(input.labels));
  reads.push(...counts);
  return reads;
}

/** The conclusion from the matched rules, the policy for the tool, and the mode. */
type Conclusion = Omit<Verdict, "errors" | "considered" | "stateReads" | "charges">;

function conclude(policy: Policy, input: DecisionInput, tried: Tried): Conclusion {
  const floor = modeOpinions(policy, input);
  const restsOn = strictest([{ decision: "allow", reasonCode: "mode", reason: "" }, ...floor]);
  const observes = policy.document.enforcement === "observe" && restsOn.decision === "allow";
  const opinion = strictest([ruleOpinion(policy, input, tried), ...governanceOpinions(policy, input), ...floor]);
  const final = policy.document.enforcement === "observe" && !observes ? restsOn : opinion;
  const obligations = obligationsOf(final.decision, !observes, input.manifest, policy, tried);
  return { determining: [], ...final, enforced: !observes, obligations };
}

const conclusions = new WeakMap<Policy, WeakMap<DecisionInput["manifest"], Map<Mode, Conclusion>>>();

/**
 * The conclusion without matched rules and sizes, the same for every call of a tool in one mode. It
 * is made once and shared, so no code may change it.
 */
function sharedConclusion(policy: Policy, input: DecisionInput, tried: Tried): Conclusion {
  const { manifest, mode } = input;
  let byTool = conclusions.get(policy);
  if (!byTool) conclusions.set(policy, (byTool = new WeakMap<DecisionInput["manifest"], Map<Mode, Conclusion>>()));
  let byMode = byTool.get(manifest);
  if (!byMode) byTool.set(manifest, (byMode = new Map<Mode, Conclusion>()));
  let conclusion = byMode.get(mode);
  if (!conclusion) byMode.set(mode, (conclusion = deepFreeze(conclude(policy, input, tried))));
  return conclusion;
}

function obligationsOf(
  decision: Decision,
  enforced: boolean,
  { name, body }: DecisionInput["manifest"],
  policy: Policy,
  { matching }: Tried,
): readonly string[] {
  if (decision === "deny" && enforced) return [];
  const asks = decision === "ask" && enforced;
  return [
    ...(asks ? ["approval"] : []),
    ...(asks && (policy.document.approver === "passkey" || matching.some(asksForPasskey)) ? ["passkey"] : []),
    ...(body ? ["body"] : []),
    ...policy.labelsOf(name).map(labelObligation),
  ];
}

/** It demands one also where something else asks, too. */
function asksForPasskey({ rule: { effect, approver } }: LoadedRule): boolean {
  return effect === "ask" && approver === "passkey";
}

function ruleOpinion(policy: Policy, input: DecisionInput, tried: Tried): Opinion {
  const { tier } = input.manifest;
  const { posture } = policy.document;
  const base = postureAnswer(posture, tier);
  const byPosture: Opinion = {
    decision: base,
    reasonCode: "posture",
    reason: `The posture ${posture} ${postureWords[base]} tier ${tier} (${tierNames[tier]}).`,
  };
  if (tried.matching.length === 0) return byPosture;
  const byRules = policy.opinion(tried, input);
  return base === "deny" && byRules.decision !== "deny" ? byPosture : byRules;
}

/** The opinions of `tools` in the document that need no request. */
export function governanceOpinions(policy: Policy, { manifest: { name }, mode, inputBytes }: DecisionInput): Opinion[] {
  const { modes, sizes } = policy.governance(name) ?? {};
  const opinions: Opinion[] = [];
  if (holdsBack(modes?.forbidden, mode) || !letsThrough(modes?.allowed, mode))
    opinions.push({
      decision: "deny",
      reasonCode: "tool-mode",
      reason: `The policy does not run ${name} in mode ${mode}.`,
    });
  if (holdsBack(modes?.approval, mode))
    opinions.push({
      decision: "ask",
      reasonCode: "tool-approval",
      reason: `The policy asks before every call of ${name} in mode ${mode}.`,
    });
  if (sizes?.inputBytes !== undefined && inputBytes > sizes.inputBytes)
    opinions.push({
      decision: "deny",
      reasonCode: "tool-size",
      reason: `The policy gives ${name} at most ${sizes.inputBytes} bytes of input.`,
    });
  return opinions;
}

/**
 * The demands of the mode and of the tool itself. They also hold under a policy that only observes.
 */
export function modeOpinions(policy: Policy, { manifest, mode }: DecisionInput): Opinion[] {
  const opinions: Opinion[] = [];
  if (!letsThrough(manifest.modes, mode))
    opinions.push({ decision: "deny", reasonCode: "tool-mode", reason: `The tool does not run in mode ${mode}.` });
  const byMode = modeAnswer(mode, manifest, policy.governance(manifest.name));
  if (byMode !== "allow")
    opinions.push({ decision: byMode, reasonCode: "mode", reason: `Mode ${mode} restricts tools of this kind.` });
  if (manifest.approval === "always")
    opinions.push({ decision: "ask", reasonCode: "tool-approval", reason: "The tool asks before every call." });
  return opinions;
}
