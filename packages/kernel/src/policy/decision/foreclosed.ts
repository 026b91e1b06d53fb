import type { RuleCondition } from "../document/policy.ts";
import type { Policy } from "../document/make.ts";
import { type DecisionInput, holdsAll } from "./condition.ts";
import { governanceOpinions, modeOpinions, postureAnswer } from "./decide.ts";

/** Conditions that every call of one tool by one caller meets alike, as long as policy and mode stay. */
const ofEveryCall: readonly string[] = [
  "tool",
  "version",
  "category",
  "tier",
  "risk",
  "mode",
  "caller",
  "effects",
  "capability",
] satisfies (keyof RuleCondition)[];

/**
 * Whether the policy denies every call that this one stands for, whatever its arguments, session and time. `granted` are the kinds that each of them holds.
 * Where it cannot be known beforehand, it is not foreclosed.
 */
export function isForeclosed(policy: Policy, input: DecisionInput): boolean {
  const denies = ({ decision }: { readonly decision: string }): boolean => decision === "deny";
  if (modeOpinions(input).some(denies)) return true;
  if (policy.document.enforcement === "observe") return false;
  return (
    postureAnswer(policy.document.posture, input.manifest.tier) === "deny" ||
    governanceOpinions(policy, input).some(denies) ||
    policy.candidates(input).some(({ rule, count, tests }) => {
      if (rule.effect !== "deny" || count !== undefined) return false;
      const isOfEveryCall = Object.keys(rule.when).every((name) => ofEveryCall.includes(name));
      return isOfEveryCall && holdsAll(tests, input) === true;
    })
  );
}
