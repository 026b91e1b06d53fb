import { changesWorld, type Mode, type ToolManifest } from "../tool/manifest.ts";
import type { Decision } from "./policy.ts";

/** What each mode answers at best. A mode only tightens: the stricter of its answer and the policy's stands. */
const answers = {
  NORMAL: () => "allow",
  /** Something looks wrong: a person looks at everything that is not harmless. */
  ALERT: ({ tier, effects }) => (tier >= 2 || effects.some(changesWorld) ? "ask" : "allow"),
  /** Resources are short: the dangerous and the far-reaching stops. */
  DEGRADED: ({ tier }) => (tier >= 3 ? "deny" : "allow"),
  /** Evidence of tampering: only what can neither change nor reveal anything. */
  LOCKDOWN: ({ tier, effects }) => (tier === 0 && effects.length === 0 ? "allow" : "deny"),
  /** On the way back: what has effects is looked at one by one. */
  RECOVERY: ({ tier, effects }) => (tier >= 3 ? "deny" : effects.length > 0 ? "ask" : "allow"),
} as const satisfies Record<Mode, (manifest: Pick<ToolManifest, "tier" | "effects">) => Decision>;

export function modeAnswer(mode: Mode, manifest: Pick<ToolManifest, "tier" | "effects">): Decision {
  return answers[mode](manifest);
}

/** Whether a tool runs at all while the kernel is in this mode, whatever a policy says of it. */
export function runsIn(mode: Mode, manifest: ToolManifest): boolean {
  return modeAnswer(mode, manifest) !== "deny" && manifest.modes?.includes(mode) !== false;
}
