import type { Families } from "../../capability/registry.ts";
import type { Hash } from "../../hash/hash.ts";
import { snapshot } from "../../json/snapshot.ts";
import type { Setup } from "../../result.ts";
import { noRules } from "../decision/rule-set.ts";
import { invalidPolicy } from "./invalid.ts";
import { checkKeeping } from "./keeping.ts";
import { defaultPolicy, makePolicy, type Policy } from "./make.ts";
import type { PolicyVariables } from "./variables.ts";

/** Checks a document whole. */
export type CheckPolicy = (foreign: unknown, variables: PolicyVariables, by: Hash, families: Families) => Setup<Policy>;

/** How one kernel reads policies. */
export interface PolicyReading {
  readonly hash: Hash;
  readonly families: Families;
  readonly policyVariables: PolicyVariables;
  readonly checkPolicy?: CheckPolicy;
  readonly keepsValues?: boolean;
}

/**
 * A document, where the kernel can check one.
 *
 * @param foreign Default: the strict policy, which needs no check.
 */
export function takePolicy(foreign: unknown, reading: PolicyReading): Setup<Policy> {
  const { hash, families, keepsValues = false } = reading;
  if (foreign === undefined) return { ok: true, value: makePolicy(defaultPolicy, hash, families, noRules) };
  return checkKeeping(read(foreign, reading), keepsValues);
}

function read(foreign: unknown, { hash, families, policyVariables, checkPolicy }: PolicyReading): Setup<Policy> {
  const plain = snapshot(foreign);
  if (!plain.ok) return invalidPolicy(plain.error.path, plain.error.message);
  if (checkPolicy) return checkPolicy(plain.value, policyVariables, hash, families);
  return invalidPolicy("", "This kernel checks no policies, and got one.", "Give composeKernel `checkPolicy`.");
}
