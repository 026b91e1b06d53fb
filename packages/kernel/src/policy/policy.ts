import type { Capability } from "../capability/capability.ts";
import type { Effect, Mode, Risk, Tier } from "../tool/manifest.ts";

export const decisions = ["allow", "ask", "deny"] as const;
export type Decision = (typeof decisions)[number];

export const postures = ["strict", "standard", "permissive"] as const;
/** How a policy answers where no rule matches: one decision per tier. */
export type Posture = (typeof postures)[number];

/** One JSON document that decides what runs. Checked by {@link loadPolicy}; unknown keys are errors. */
export interface PolicyDocument {
  readonly version: "1";
  readonly posture: Posture;
  readonly grants?: readonly GrantRule[];
  readonly rules?: readonly PolicyRule[];
}

/** Gives a caller one capability for one tool. What is not granted is refused. */
export interface GrantRule {
  /** A tool's name, or `*`. */
  readonly tool: string;
  /** Default: every caller. */
  readonly caller?: string;
  readonly capability: Capability;
}

export interface PolicyRule {
  /** Unique in the document. */
  readonly id: string;
  readonly effect: Decision;
  /** All conditions must hold; `{}` matches every call. */
  readonly when: RuleCondition;
  /** One sentence for the person who is asked or refused. */
  readonly reason: string;
}

/** Each condition holds when the call's value is one of the list. */
export interface RuleCondition {
  readonly tool?: readonly string[];
  readonly category?: readonly string[];
  readonly tier?: readonly Tier[];
  readonly risk?: readonly Risk[];
  readonly mode?: readonly Mode[];
  readonly caller?: readonly string[];
  readonly session?: readonly string[];
  /** Holds when the tool declares any effect of the list. */
  readonly effects?: readonly Effect[];
}
