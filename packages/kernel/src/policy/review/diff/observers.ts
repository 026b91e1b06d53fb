import { observingEffects } from "../../modes/mode.ts";
import type { Policy } from "../../document/make.ts";
import type { ToolGovernance } from "../../document/policy.ts";
import type { Atom } from "./atom.ts";
import type { Clause } from "./clauses.ts";
import { dimensions, kindDimension } from "./dimension.ts";
import { decisionInputOf } from "./draft.ts";

export const observer: Pick<ToolGovernance, "modes"> = { modes: { lockdown: "ask" } };

/** Tools that LOCKDOWN asks about in place of a denial. */
export function observersOf({ document: { tools = {} } }: Policy): readonly string[] {
  return Object.entries(tools).flatMap(([name, { modes }]) => (modes?.lockdown === "ask" ? [name] : []));
}

/** LOCKDOWN's denial of tools that only the other policy calls observers: of tier 1, and of tier 0 with an effect. */
export function lockdownClauses(policy: Policy, other: Policy): readonly Clause[] {
  const own = observersOf(policy);
  return observersOf(other).flatMap((tool) => {
    if (own.includes(tool)) return [];
    const clause = (tier: 0 | 1, kind: string | undefined): Clause => ({
      key: JSON.stringify(["lockdown", tool, tier, kind ?? null]),
      role: "mode",
      level: 3,
      atoms: [
        { dimension: dimensions.tier, mentioned: {}, holds: (draft) => draft.tier === tier },
        { dimension: dimensions.tool, mentioned: { texts: [tool] }, holds: (draft) => draft.tool === tool },
        { dimension: dimensions.mode, mentioned: {}, holds: ({ mode }) => mode === "LOCKDOWN" },
        ...(kind === undefined ? [] : [kindAtom(kind, policy)]),
      ],
    });
    return [clause(1, undefined), ...observingEffects.map((kind) => clause(0, kind))];
  });
}

function kindAtom(kind: string, policy: Policy): Atom {
  return {
    dimension: kindDimension(kind),
    mentioned: {},
    holds: (draft) => decisionInputOf(draft, policy).manifest.effects.some((each) => each === kind),
  };
}
