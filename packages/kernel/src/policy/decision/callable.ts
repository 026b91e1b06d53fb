import type { Revocations } from "../../capability/revocation.ts";
import { gives } from "../../capability/grant.ts";
import { isForeclosed } from "./foreclosed.ts";
import type { Policy } from "../document/make.ts";
import type { Mode } from "../../tool/manifest.ts";
import type { RegisteredTool } from "../../tool/package.ts";

/**
 * Whether some call of a tool by a caller could start under the policy and mode of now: with other arguments, in another session, at another time, or after a yes. Says
 * `true` where only a call can tell.
 */
export function isCallable(
  { manifest, own }: Pick<RegisteredTool, "manifest" | "own">,
  caller: string,
  { policy, mode }: { readonly policy: Policy; readonly mode: Mode },
  revocations: Pick<Revocations, "reasonFor">,
): boolean {
  const granted = policy.grants(manifest.name, caller);
  const needed = manifest.capabilities.flatMap(({ optional, kind }) => (optional ? [] : [kind]));
  const holder = { callId: "", caller, sessionId: "", tool: manifest.name };
  const isHeld = needed.every(
    (kind) => granted.some((each) => each.kind === kind) && revocations.reasonFor(holder, kind) === undefined,
  );
  // Its code makes an access that no call can leave out.
  const isCovered = own.every(({ needs: [need] }) => gives(granted, need));
  const about = { manifest, caller, mode, granted: needed };
  return (
    isHeld &&
    isCovered &&
    !isForeclosed(policy, { ...about, sessionId: "", input: {}, inputBytes: 0, nowMs: 0, labels: [] })
  );
}
