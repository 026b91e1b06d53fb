import type { Policy } from "../document/make.ts";
import type { DecisionInput } from "./condition.ts";
import { governanceOpinions, modeOpinions, postureAnswer } from "./decide.ts";

/**
 * Whether the policy denies every call like this one, with any arguments, session and time.
 * `granted` are the kinds that each of them holds. Returns `false` where that cannot be known
 * beforehand.
 */
export function isForeclosed(policy: Policy, input: DecisionInput): boolean {
  const denies = ({ decision }: { readonly decision: string }): boolean => decision === "deny";
  if (modeOpinions(policy, input).some(denies)) return true;
  if (policy.document.enforcement === "observe") return false;
  return (
    postureAnswer(policy.document.posture, input.manifest.tier) === "deny" ||
    governanceOpinions(policy, input).some(denies) ||
    policy.foreclose(input)
  );
}
