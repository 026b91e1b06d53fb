import { changesWorld, type Mode, type ToolManifest } from "../../tool/manifest.ts";
import { letsThrough, upTo } from "../../tool/modes.ts";
import type { Decision, ToolGovernance } from "../document/policy.ts";

/** The addition of each mode to the milder ones. */
const answers = {
  NORMAL: () => "allow",
  /** Something looks wrong: a person looks at everything that is not harmless. */
  ALERT: ({ tier, effects }) => (tier >= 2 || effects.some(changesWorld) ? "ask" : "allow"),
  /** Resources are short: the dangerous and the far-reaching stops. */
  DEGRADED: ({ tier }) => (tier >= 3 ? "deny" : "allow"),
  /** On the way back each tool with effects needs an approval. */
  RECOVERY: ({ effects }) => (effects.length > 0 ? "ask" : "allow"),
  /** Evidence of tampering: only what can neither change nor reveal anything. */
  LOCKDOWN: ({ tier, effects }) => (tier === 0 && effects.length === 0 ? "allow" : "deny"),
} as const satisfies Record<Mode, (manifest: Pick<ToolManifest, "tier" | "effects">) => Decision>;

/** Effects of an observer. None writes or reaches the network; of a program only the policy's author can know that. */
export const observingEffects: readonly string[] = ["db.read", "fs.read", "kv.read", "process.spawn"];

/**
 * The answer of a mode. A mode only tightens: the stricter of its answer and the policy's applies.
 *
 * @param governance of the tool in the policy: with `modes.lockdown` LOCKDOWN asks about an observer of tier 0 or 1. Default: it denies.
 */
export function modeAnswer(
  mode: Mode,
  manifest: Pick<ToolManifest, "tier" | "effects">,
  governance?: Pick<ToolGovernance, "modes">,
): Decision {
  const asks = governance?.modes?.lockdown === "ask" && isObserver(manifest);
  const given = upTo(mode).map((each): Decision => {
    const answer = answers[each](manifest);
    return each === "LOCKDOWN" && answer === "deny" && asks ? "ask" : answer;
  });
  return given.find((each) => each === "deny") ?? given.find((each) => each === "ask") ?? "allow";
}

function isObserver({ tier, effects }: Pick<ToolManifest, "tier" | "effects">): boolean {
  return tier <= 1 && effects.every((each) => observingEffects.includes(each));
}

/** Whether a tool can run in this mode, under any policy. */
export function runsIn(mode: Mode, manifest: ToolManifest): boolean {
  return modeAnswer(mode, manifest) !== "deny" && letsThrough(manifest.modes, mode);
}
