import { changesWorld, type Mode, type ToolManifest } from "../../tool/manifest.ts";
import { letsThrough, upTo } from "../../tool/modes.ts";
import type { Decision } from "../document/policy.ts";

/** What each mode adds to the milder ones. */
const answers = {
  NORMAL: () => "allow",
  /** Something looks wrong: a person looks at everything that is not harmless. */
  ALERT: ({ tier, effects }) => (tier >= 2 || effects.some(changesWorld) ? "ask" : "allow"),
  /** Resources are short: the dangerous and the far-reaching stops. */
  DEGRADED: ({ tier }) => (tier >= 3 ? "deny" : "allow"),
  /** On the way back: what has effects is looked at one by one. */
  RECOVERY: ({ effects }) => (effects.length > 0 ? "ask" : "allow"),
  /** Evidence of tampering: only what can neither change nor reveal anything. */
  LOCKDOWN: ({ tier, effects }) => (tier === 0 && effects.length === 0 ? "allow" : "deny"),
} as const satisfies Record<Mode, (manifest: Pick<ToolManifest, "tier" | "effects">) => Decision>;

/** What a mode answers at best. A mode only tightens: the stricter of its answer and the policy's stands. */
export function modeAnswer(mode: Mode, manifest: Pick<ToolManifest, "tier" | "effects">): Decision {
  const given = upTo(mode).map((each): Decision => answers[each](manifest));
  return given.find((each) => each === "deny") ?? given.find((each) => each === "ask") ?? "allow";
}

/** Whether a tool runs at all while the kernel is in this mode, whatever a policy says of it. */
export function runsIn(mode: Mode, manifest: ToolManifest): boolean {
  return modeAnswer(mode, manifest) !== "deny" && letsThrough(manifest.modes, mode);
}
