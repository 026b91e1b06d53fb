import {
  type JsonValue,
  policy as policyOf,
  type Policy,
  type PolicyDocument,
  type PolicyRule,
  type RuleCondition,
} from "@keyhole/kernel";
import type { DecisionInput } from "../../packages/kernel/src/policy/decision/condition.ts";
import { decide } from "../../packages/kernel/src/policy/decision/decide.ts";
import type { ReadCounter, Verdict } from "../../packages/kernel/src/policy/decision/verdict.ts";

/** A policy of posture standard with some parts. */
export function loaded(part: Partial<PolicyDocument>): Policy {
  const result = policyOf({ version: "1", posture: "standard", ...part });
  if (!result.ok) throw new TypeError(`${result.error.path}: ${result.error.message}`);
  return result.value;
}

export function denyWhen(when: RuleCondition, id: string = "r"): PolicyRule {
  return { id, effect: "deny", when, reason: "No." };
}

type Flat = Partial<DecisionInput> & Partial<DecisionInput["manifest"]> & { readonly input?: JsonValue };

/** A tier 0 call of `pay` by `ada`. */
export function inputOf(flat: Flat = {}): DecisionInput {
  const { name = "pay", version = "1.0.0", tier = 0, effects = [], category, risk, modes, approval, ...rest } = flat;
  return {
    manifest: {
      name,
      version,
      tier,
      effects,
      ...(category !== undefined && { category }),
      ...(risk && { risk }),
      ...(modes && { modes }),
      ...(approval && { approval }),
    },
    caller: "ada",
    sessionId: "s",
    mode: "NORMAL",
    input: {},
    inputBytes: 2,
    granted: [],
    nowMs: Date.UTC(2026, 0, 1),
    labels: [],
    ...rest,
  };
}

export function decisionBy(policy: Policy, input: DecisionInput, counter: ReadCounter = () => 0): Verdict {
  return decide(policy, input, counter);
}
