import type { Families } from "../../capability/registry.ts";
import type { Hash } from "../../hash/hash.ts";
import type { Setup } from "../../result.ts";
import { noRules } from "../decision/rule-set.ts";
import { invalidPolicy } from "./invalid.ts";
import type { checkPolicy } from "./load.ts";
import { defaultPolicy, makePolicy, type Policy } from "./make.ts";

/** How one kernel reads policies. */
export interface PolicyReading {
  readonly hash: Hash;
  readonly families: Families;
  readonly checkPolicy?: typeof checkPolicy;
  readonly keepsValues?: boolean;
}

/**
 * A document, where the kernel can check one. One that keeps values needs a place for them.
 *
 * @param foreign Default: the strict policy, which needs no check.
 */
export function takePolicy(
  foreign: unknown,
  { hash, families, checkPolicy, keepsValues }: PolicyReading,
): Setup<Policy> {
  if (foreign === undefined) return { ok: true, value: makePolicy(defaultPolicy, hash, families, noRules) };
  if (!checkPolicy)
    return invalidPolicy("", "This kernel checks no policies, and got one.", "Give composeKernel `checkPolicy`.");
  const policy = checkPolicy(foreign, hash, families);
  if (!policy.ok || keepsValues) return policy;
  const keeping = Object.entries(policy.value.document.tools ?? {}).find(([, { keep }]) => keep !== undefined);
  if (!keeping) return policy;
  return invalidPolicy(`/tools/${keeping[0]}/keep`, "The kernel has no content store.", "Give the kernel `content`.");
}
