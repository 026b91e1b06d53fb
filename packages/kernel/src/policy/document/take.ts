import type { Families } from "../../capability/registry.ts";
import type { Hash } from "../../hash/hash.ts";
import { snapshot } from "../../json/snapshot.ts";
import type { Setup } from "../../result.ts";
import { type LoadRules, noRules } from "../decision/rule-set.ts";
import { loadCompiled, saysCompiled } from "./compiled.ts";
import { invalidPolicy } from "./invalid.ts";
import { checkKeeping } from "./keeping.ts";
import { defaultPolicy, makePolicy, type Policy } from "./make.ts";
import type { PolicyVariables } from "./variables.ts";

/** Checks a document whole. Part of the extension `policyDocuments()`. */
export type LoadDocument = (
  foreign: unknown,
  variables: PolicyVariables,
  by: Hash,
  families: Families,
) => Setup<Policy>;

/** How one kernel reads policies. */
export interface PolicyReading {
  readonly hash: Hash;
  readonly families: Families;
  readonly policyVariables: PolicyVariables;
  readonly loadDocument?: LoadDocument;
  readonly loadRules?: LoadRules;
  readonly keepsValues?: boolean;
}

/**
 * A compiled policy, and a document where the kernel can check one.
 *
 * @param foreign Default: the strict policy, which needs no check.
 */
export function takePolicy(foreign: unknown, reading: PolicyReading): Setup<Policy> {
  const { hash, families, keepsValues = false } = reading;
  if (foreign === undefined) return { ok: true, value: makePolicy(defaultPolicy, hash, families, noRules) };
  return checkKeeping(read(foreign, reading), keepsValues);
}

function read(
  foreign: unknown,
  { hash, families, policyVariables, loadDocument, loadRules }: PolicyReading,
): Setup<Policy> {
  const plain = snapshot(foreign);
  if (!plain.ok) return invalidPolicy(plain.error.path, plain.error.message);
  if (saysCompiled(plain.value)) return loadCompiled(plain.value, hash, families, loadRules);
  if (loadDocument) return loadDocument(plain.value, policyVariables, hash, families);
  const hint = "Add policyDocuments() to `extensions`, or compile the document ahead with `compilePolicy`.";
  return invalidPolicy("", "This kernel takes compiled policies only, and got a document.", hint);
}
