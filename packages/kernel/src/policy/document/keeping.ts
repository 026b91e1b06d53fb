import type { Setup } from "../../result.ts";
import { invalidPolicy } from "./invalid.ts";
import type { Policy } from "./make.ts";

/** A policy that keeps values needs a place for them: without one the kernel refuses it. */
export function checkKeeping(policy: Setup<Policy>, canKeep: boolean): Setup<Policy> {
  if (!policy.ok || canKeep) return policy;
  const keeping = Object.entries(policy.value.document.tools ?? {}).find(([, { keep }]) => keep !== undefined);
  if (!keeping) return policy;
  return invalidPolicy(`/tools/${keeping[0]}/keep`, "The kernel has no content store.", "Give the kernel `content`.");
}
