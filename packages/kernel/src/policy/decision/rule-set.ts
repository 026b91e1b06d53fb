import type { StateRead } from "../proof/proof.ts";
import type { DecisionInput } from "./condition.ts";
import type { LoadedRule } from "./rule.ts";
import type { Opinion, ReadCounter, Verdict } from "./verdict.ts";

/** The result of a policy's rules for one call. */
export interface Tried extends Pick<Verdict, "considered" | "errors" | "charges"> {
  /** Rules that match, or that could not say and are therefore taken at their word. */
  readonly matching: readonly LoadedRule[];
  /** The read counters. */
  readonly counts: readonly StateRead[];
}

/** The rules of one policy, ready to try. */
export interface RuleSet {
  /** As in the document. */
  readonly rules: readonly LoadedRule[];
  /** The rules about calls that could match. */
  candidates(input: DecisionInput): readonly LoadedRule[];
  tryRules(input: DecisionInput, readCounter: ReadCounter): Tried;
  /** The opinion of the strictest matched rules. At least one matches. */
  opinion(tried: Tried, input: DecisionInput): Opinion;
  /** The rules about requests that concern the call. An undecided one denies. */
  requestRules(input: DecisionInput): readonly LoadedRule[];
  /** Whether one of them has a time. */
  readonly hasTimedRequests: boolean;
  /** Whether any rule has a time. */
  readonly hasTimes: boolean;
  /**
   * Whether a rule denies every call of this tool by this caller, with any arguments, session and
   * time.
   */
  foreclose(input: DecisionInput): boolean;
}

const nothingTried: Tried = { matching: [], considered: 0, errors: [], charges: [], counts: [] };

/** Of a document that has neither `rules` nor a `rate`. */
export const noRules: RuleSet = {
  rules: [],
  candidates: () => [],
  tryRules: () => nothingTried,
  opinion() {
    throw new TypeError("no rule matched");
  },
  requestRules: () => [],
  hasTimedRequests: false,
  hasTimes: false,
  foreclose: () => false,
};
