import type { RuleErrorCode } from "./arguments.ts";
import type { Charge } from "./counters.ts";
import type { Decision } from "../document/policy.ts";
import type { ReasonCode, StateRead } from "../proof/proof.ts";
import type { LoadedRule } from "./rule.ts";

export interface Verdict {
  readonly decision: Decision;
  /** `false` where the policy only observes: the call continues as if it were allowed. */
  readonly enforced: boolean;
  readonly reasonCode: ReasonCode;
  /** One sentence for the approver or the caller. */
  readonly reason: string;
  /** Why the rule that decided could not read an argument, and its plain spelling. */
  readonly notPlain?: string | undefined;
  /** By id. */
  readonly determining: readonly LoadedRule[];
  readonly errors: readonly { readonly ruleId: string; readonly code: RuleErrorCode }[];
  /** Tried rules; the index ruled out the others. */
  readonly considered: number;
  /** Everything besides policy, tool, input, grant, mode and time that the decision may rest on. */
  readonly stateReads: readonly StateRead[];
  readonly obligations: readonly string[];
  /** The charges of the call, if it runs. */
  readonly charges: readonly RuleCharge[];
}

/** The charge of a counting rule. */
export interface RuleCharge extends Charge {
  readonly ruleHash: string;
}

/** Reads a counter; `undefined` when it has no answer. */
export type ReadCounter = (rule: LoadedRule, window: Omit<Charge, "amount">) => number | undefined;

/** The answer of one part of a policy to a call. The strictest opinion counts. */
export type Opinion = Pick<Verdict, "decision" | "reasonCode" | "reason"> &
  Partial<Pick<Verdict, "determining" | "notPlain">>;

export const strictness: Readonly<Record<Decision, number>> = { allow: 0, ask: 1, deny: 2 };
