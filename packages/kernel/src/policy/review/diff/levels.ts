import type { Decision } from "../../document/policy.ts";
import type { Tier } from "../../../tool/manifest.ts";
import { postureAnswer } from "../../decision/decide.ts";
import type { Policy } from "../../document/make.ts";
import type { Clause } from "./clauses.ts";
import type { Level } from "./draft.ts";

/** The effect of a clause that holds. */
export type Saying = Pick<Clause, "role" | "level">;

/** From the mildest answer that is still possible to the strictest one. */
export type Range = readonly [low: Level, high: Level];

/** The answers of a policy outside of its clauses. */
export interface Ground {
  readonly observes: boolean;
  /** The level of a mode's own ask or deny. */
  readonly ofMode: Readonly<Record<Decision, Level>>;
  readonly base: (tier: Tier) => Level;
}

export function groundOf({ document }: Policy): Ground {
  const asks: Level = document.approver === "passkey" ? 2 : 1;
  const levels = { allow: 0, ask: asks, deny: 3 } as const;
  const observes = document.enforcement === "observe";
  return { observes, ofMode: levels, base: (tier) => (observes ? 0 : levels[postureAnswer(document.posture, tier)]) };
}

/** The known facts of the remaining calls. */
interface Asked {
  readonly tier: Tier;
  /** Whether they make a request; `open`: some of them may. */
  readonly request: "none" | "made" | "open";
  /** The mode answers at least so strictly. */
  readonly mode: Level;
}

/** A set of clauses: those that hold, and those that still can. */
export interface Held {
  readonly sure: readonly Saying[];
  readonly open: readonly Saying[];
}

const most = (levels: readonly Level[], least: Level): Level => levels.reduce((a, b) => (b > a ? b : a), least);
const least = (levels: readonly Level[], most_: Level): Level => levels.reduce((a, b) => (b < a ? b : a), most_);

/** Everything that a policy can still answer. Its clauses may hold in any combination. */
export function rangeOf({ observes, base }: Ground, { tier, request, mode }: Asked, { sure, open }: Held): Range {
  const [low, high] = observes
    ? ([0, 0] as const)
    : ruleRange(base(tier), levelsOf(sure, "rule"), levelsOf(open, "rule"));
  const ofMode = levelsOf(sure, "mode");
  const surely = most([mode, ...ofMode, ...(observes ? [] : levelsOf(sure, "floor"))], low);
  const possibly = most(
    [
      mode,
      ...ofMode,
      ...levelsOf(open, "mode"),
      ...(observes ? [] : [...levelsOf(sure, "floor"), ...levelsOf(open, "floor")]),
    ],
    high,
  );
  if (request !== "made") return [surely, request === "open" ? 3 : possibly];
  const isIn = (list: readonly Saying[], role: Clause["role"]): boolean => list.some((each) => each.role === role);
  const isForbidden = !observes && isIn(sure, "forbids");
  if (isForbidden || !(isIn(sure, "grant") || isIn(open, "grant"))) return [3, 3];
  const canBeRefused = !isIn(sure, "grant") || (!observes && isIn(open, "forbids"));
  return [surely, canBeRefused ? 3 : possibly];
}

function levelsOf(clauses: readonly Saying[], role: Clause["role"]): readonly Level[] {
  return clauses.flatMap((each) => (each.role === role ? [each.level] : []));
}

/** Among matching rules the strictest; where none matches, the posture, whose deny no rule lifts. */
function ruleRange(base: Level, sure: readonly Level[], open: readonly Level[]): Range {
  if (base === 3) return [3, 3];
  const highest = most([...sure, ...open], sure.length === 0 ? base : 0);
  const lowest = sure.length > 0 ? most(sure, 0) : least(open, base);
  return [lowest, highest];
}
