import { present } from "../../support/guards.ts";
import { deepFreeze } from "../../json/freeze.ts";
import { type Mode, tierNames, type Tier } from "../../tool/manifest.ts";
import { holdsBack, letsThrough } from "../../tool/modes.ts";
import type { RuleErrorCode, Truth } from "./arguments.ts";
import { type DecisionInput, holdsAll } from "./condition.ts";
import type { Charge } from "./counters.ts";
import type { Policy } from "../document/make.ts";
import { modeAnswer } from "../modes/mode.ts";
import type { Decision, Posture } from "../document/policy.ts";
import type { ReasonCode, StateRead } from "../proof/proof.ts";
import type { LoadedCount, LoadedRule } from "./rule.ts";
import { callReads, countRead, labelObligation, labelsRead } from "./state-reads.ts";

export interface Verdict {
  readonly decision: Decision;
  /** `false` where the policy only observes: the call goes on as if it were allowed. */
  readonly enforced: boolean;
  readonly reasonCode: ReasonCode;
  /** One sentence for the person who is asked or refused. */
  readonly reason: string;
  /** By id. */
  readonly determining: readonly LoadedRule[];
  readonly errors: readonly { readonly ruleId: string; readonly code: RuleErrorCode }[];
  /** Rules that were tried; the index ruled out the others. */
  readonly considered: number;
  /** Everything besides policy, tool, input, grant, mode and time that the decision may rest on. */
  readonly stateReads: readonly StateRead[];
  readonly obligations: readonly string[];
  /** What the call adds to counters, should it run. */
  readonly charges: readonly RuleCharge[];
}

/** What a counting rule charges. */
export interface RuleCharge extends Charge {
  readonly ruleHash: string;
}

/** What a counter says; `undefined` when it cannot say. */
export type ReadCounter = (rule: LoadedRule, window: Omit<Charge, "amount">) => number | undefined;

/** Tiers 0 to 4, left to right. */
const postureAnswers = {
  strict: ["allow", "ask", "ask", "deny", "deny"],
  standard: ["allow", "allow", "ask", "ask", "deny"],
  permissive: ["allow", "allow", "allow", "ask", "deny"],
} as const satisfies Record<Posture, readonly [Decision, Decision, Decision, Decision, Decision]>;

/** For the person who is asked or refused. */
const postureWords = {
  allow: "allows tools of",
  ask: "asks before it runs tools of",
  deny: "does not run tools of",
} as const satisfies Record<Decision, string>;

export function postureAnswer(posture: Posture, tier: Tier): Decision {
  return postureAnswers[posture][tier];
}

const strictness = { allow: 0, ask: 1, deny: 2 } as const satisfies Record<Decision, number>;

type Opinion = Pick<Verdict, "decision" | "reasonCode" | "reason"> & Partial<Pick<Verdict, "determining">>;

/** The strictest; of equals the first. */
function strictest([first, ...others]: readonly [Opinion, ...Opinion[]]): Opinion {
  return others.reduce((worst, each) => (strictness[each.decision] > strictness[worst.decision] ? each : worst), first);
}

/**
 * One decision. Among matching rules deny beats ask beats allow; where none matches, the posture's answer for the tier stands. A rule lifts the
 * posture's `ask`, never its `deny`. The policy's word on the tool, the mode and the tool's own wishes come on top and only tighten.
 */
export function decide(policy: Policy, input: DecisionInput, readCounter: ReadCounter): Verdict {
  const tried = tryRules(policy, input, readCounter);
  const isStanding = tried.matching.length === 0 && policy.governance(input.manifest.name)?.sizes === undefined;
  const { decision, enforced, reasonCode, reason, determining, obligations } = isStanding
    ? sharedConclusion(policy, input, tried)
    : conclude(policy, input, tried);
  const { considered, errors, stateReads, charges } = tried;
  return {
    decision,
    enforced,
    reasonCode,
    reason,
    determining,
    errors,
    considered,
    stateReads,
    charges,
    obligations,
  };
}

/** What follows from the rules that matched, the policy's word on the tool, and the mode. */
type Conclusion = Pick<Verdict, "decision" | "enforced" | "reasonCode" | "reason" | "determining" | "obligations">;

function conclude(policy: Policy, input: DecisionInput, tried: Tried): Conclusion {
  const floor = modeOpinions(input);
  const restsOn = strictest([{ decision: "allow", reasonCode: "mode", reason: "" }, ...floor]);
  const observes = policy.document.enforcement === "observe" && restsOn.decision === "allow";
  const opinion = strictest([ruleOpinion(policy, input, tried), ...governanceOpinions(policy, input), ...floor]);
  const final = policy.document.enforcement === "observe" && !observes ? restsOn : opinion;
  const { decision, reasonCode, reason, determining = [] } = final;
  const demandsPasskey = policy.document.approver === "passkey" || tried.matching.some(asksForPasskey);
  const obligations = obligationsOf(decision, !observes, input.manifest, policy, demandsPasskey);
  return { decision, enforced: !observes, reasonCode, reason, determining, obligations };
}

const conclusions = new WeakMap<Policy, WeakMap<DecisionInput["manifest"], Map<Mode, Conclusion>>>();

/** Where no rule matches, and no size counts, a policy says the same to every call of a tool in one mode: it is concluded once. Shared, so nobody may change it. */
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
  demandsPasskey: boolean,
): readonly string[] {
  if (decision === "deny" && enforced) return [];
  const asks = decision === "ask" && enforced;
  return [
    ...(asks ? ["approval"] : []),
    ...(asks && demandsPasskey ? ["passkey"] : []),
    ...(body ? ["body"] : []),
    ...policy.labelsOf(name).map(labelObligation),
  ];
}

/** It demands one also where something else asks, too. */
function asksForPasskey({ rule: { effect, approver } }: LoadedRule): boolean {
  return effect === "ask" && approver === "passkey";
}

interface Tried extends Pick<Verdict, "considered" | "errors" | "stateReads" | "charges"> {
  /** Rules that match, or that could not say and are therefore taken at their word. */
  readonly matching: readonly LoadedRule[];
}

function tryRules(policy: Policy, input: DecisionInput, readCounter: ReadCounter): Tried {
  const candidates = policy.candidates(input);
  const matching: LoadedRule[] = [];
  const errors: { ruleId: string; code: RuleErrorCode }[] = [];
  const counts: StateRead[] = [];
  const charges: RuleCharge[] = [];
  for (const loaded of candidates) {
    let truth: Truth = holdsAll(loaded.tests, input);
    if (truth === false) continue;
    const { rule, count } = loaded;
    if (count) {
      const counted = tryCount(loaded, count, input, readCounter);
      if (counted.read) counts.push(counted.read);
      if (counted.charge) charges.push(counted.charge);
      if (truth === true) truth = counted.truth;
      if (truth === false) continue;
    }
    const error = truth === true ? undefined : truth;
    if (error !== undefined) errors.push({ ruleId: rule.id, code: error });
    if (error === undefined || rule.effect !== "allow") matching.push(loaded);
  }
  const stateReads = callReads(input);
  if (policy.allLabels.length > 0) stateReads.push(labelsRead(input.labels));
  if (counts.length > 1) counts.sort((a, b) => (a.key < b.key ? -1 : 1));
  if (errors.length > 1) errors.sort((a, b) => (a.ruleId < b.ruleId ? -1 : 1));
  stateReads.push(...counts);
  return { matching, considered: candidates.length, errors, stateReads, charges };
}

/** Charges whatever the rule says in the end: the next call has to know of this one. */
function tryCount(
  loaded: LoadedRule,
  { condition, read, holds }: LoadedCount,
  input: DecisionInput,
  readCounter: ReadCounter,
): { readonly truth: Truth; readonly read?: StateRead; readonly charge?: RuleCharge } {
  const amount = read ? read(input.input) : 1;
  if (typeof amount !== "number" || amount < 0) return { truth: "NOT_A_NUMBER" };
  const { windowMs, per = ["caller"] } = condition;
  const names = { caller: input.caller, session: input.sessionId, tool: input.manifest.name };
  const window = { key: JSON.stringify([loaded.hash, ...per.map((each) => names[each])]), windowMs };
  const before = readCounter(loaded, window);
  if (before === undefined) return { truth: "COUNTER_UNAVAILABLE" };
  return {
    truth: holds(before, amount),
    read: countRead(loaded.rule.id, before),
    charge: { ...window, amount, ruleHash: loaded.hash },
  };
}

/** The index gives most of them in this order already, which is cheaper to see than to make. */
function byId(rules: LoadedRule[]): readonly LoadedRule[] {
  let before = "";
  for (const { rule } of rules) {
    if (before > rule.id) return rules.sort((a, b) => (a.rule.id < b.rule.id ? -1 : 1));
    before = rule.id;
  }
  return rules;
}

function ruleOpinion(policy: Policy, { manifest: { tier } }: DecisionInput, { matching, errors }: Tried): Opinion {
  const { posture } = policy.document;
  const base = postureAnswer(posture, tier);
  const byPosture: Opinion = {
    decision: base,
    reasonCode: "posture",
    reason: `The posture ${posture} ${postureWords[base]} tier ${tier} (${tierNames[tier]}).`,
  };
  if (matching.length === 0) return byPosture;
  let decision: Decision = "allow";
  let found: LoadedRule[] = [];
  for (const loaded of matching) {
    const { effect } = loaded.rule;
    if (effect !== decision && strictness[effect] > strictness[decision]) {
      decision = effect;
      found = [];
    }
    if (effect === decision) found.push(loaded);
  }
  if (base === "deny" && decision !== "deny") return byPosture;
  const deciding = byId(found);
  const errorOf = (loaded: LoadedRule): RuleErrorCode | undefined =>
    errors.find(({ ruleId }) => ruleId === loaded.rule.id)?.code;
  const loaded = (errors.length === 0 ? undefined : deciding.find((each) => !errorOf(each))) ?? present(deciding[0]);
  const error = errors.length === 0 ? undefined : errorOf(loaded);
  return {
    decision,
    reasonCode: loaded.isRate ? "rate" : error === undefined ? "rule" : "rule-error",
    reason:
      error === undefined ? loaded.rule.reason : `${loaded.rule.reason} (The rule failed with ${error}, so it stands.)`,
    determining: deciding,
  };
}

/** What `tools` in the document says, and cannot wait for a request. */
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

/** What the mode and the tool itself demand. They hold where the policy only observes, too. */
export function modeOpinions({ manifest, mode }: DecisionInput): Opinion[] {
  const opinions: Opinion[] = [];
  if (!letsThrough(manifest.modes, mode))
    opinions.push({ decision: "deny", reasonCode: "tool-mode", reason: `The tool does not run in mode ${mode}.` });
  const byMode = modeAnswer(mode, manifest);
  if (byMode !== "allow")
    opinions.push({ decision: byMode, reasonCode: "mode", reason: `Mode ${mode} restricts tools of this kind.` });
  if (manifest.approval === "always")
    opinions.push({ decision: "ask", reasonCode: "tool-approval", reason: "The tool asks before every call." });
  return opinions;
}
