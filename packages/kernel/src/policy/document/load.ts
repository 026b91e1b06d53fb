import { present } from "../../support/guards.ts";
import type { Families } from "../../capability/registry.ts";
import * as limits from "../../limits.ts";
import { builtInFamilies } from "../../capability/families/index.ts";
import { blake3Hash } from "../../hash/blake3-hash.ts";
import type { Hash } from "../../hash/hash.ts";
import { knownOptions } from "../../json/known-options.ts";
import { isJsonObject, type JsonValue, isJsonArray } from "../../json/json.ts";
import { documentExcess } from "../../json/document-excess.ts";
import { SNAPSHOT_LIMITS } from "../../json/snapshot-limits.ts";
import { snapshot } from "../../json/snapshot.ts";
import type { Setup } from "../../result.ts";
import type { OwnValidator } from "../../schema/types.ts";
import { allParts } from "../../schema/all-parts.ts";
import { explain } from "../../schema/explain/index.ts";
import { requireValidator } from "../../schema/compile-own.ts";
import { checkDocument } from "./check.ts";
import { failingExample } from "./examples.ts";
import { invalidPolicy } from "./invalid.ts";
import { loadRules } from "../decision/load-rules.ts";
import { makePolicy, type Policy } from "./make.ts";
import type { PolicyDocument } from "./policy.ts";
import { documentSchema } from "./schema.ts";
import { type PolicyVariables, resolveVariables } from "./variables.ts";

const validators = /* @__PURE__ */ new WeakMap<Families, OwnValidator>();

function validatorOf(families: Families): OwnValidator {
  const validator = validators.get(families) ?? requireValidator(documentSchema(families), { ...allParts, explain });
  validators.set(families, validator);
  return validator;
}

export interface PolicyOptions {
  /** Values of `${NAME}` in the texts of the document. */
  readonly variables?: PolicyVariables | undefined;
  /** The algorithm of its digests. Default {@link blake3Hash}. */
  readonly hash?: Hash | undefined;
  /** The kinds that it can name. Default {@link builtInFamilies}. */
  readonly families?: Families | undefined;
}

const optionNames = { variables: true, hash: true, families: true } as const;

/**
 * Checks a foreign document whole and makes a policy of it. A kernel takes its `document`, with the variables filled in.
 *
 * @example
 * const loaded = policy(JSON.parse(text), { variables: { HOME: "users/ada" } });
 * if (loaded.ok) await createKernel({ policy: loaded.value.document });
 * else console.error(loaded.error.path, loaded.error.message);
 */
export function policy(document: unknown, options: PolicyOptions = {}): Setup<Policy> {
  const { variables, hash = blake3Hash, families = builtInFamilies } = knownOptions(options, optionNames, "policy");
  return checkPolicy(document, hash, families, variables);
}

/** {@link policy}, for a kernel: it names neither an algorithm nor a family itself. */
export function checkPolicy(
  foreign: unknown,
  by: Hash,
  families: Families,
  variables: PolicyVariables = {},
): Setup<Policy> {
  const read = readDocument(foreign, variables, families);
  if (!read.ok) return read;
  const document = read.value;
  const ruleSet = loadRules(document, by, families);
  for (const [index, rule] of ruleSet.rules.entries()) {
    const failing = failingExample(rule, families);
    if (failing) return invalidPolicy(`/rules/${index}${failing.path}`, failing.message);
  }
  return { ok: true, value: makePolicy(document, by, families, ruleSet) };
}

/** The document with its variables filled in, checked but for the examples of its rules. */
export function readDocument(foreign: unknown, variables: PolicyVariables, families: Families): Setup<PolicyDocument> {
  const plain = snapshot(foreign);
  if (!plain.ok) {
    const { reason, path, message } = plain.error;
    const hint = reason === "too-large" ? `A policy has at most ${SNAPSHOT_LIMITS.maxMembers} members.` : "";
    return invalidPolicy(path, message, hint);
  }
  const resolved = resolveVariables(plain.value, variables);
  if (!resolved.ok) return resolved;
  const excess = documentExcess(patternsOf(resolved.value, families), limits.policyPatterns);
  if (excess !== undefined)
    return invalidPolicy("", `The grants, rules and tools of a policy have ${excess}.`, "Split it, or use wildcards.");
  const unknown = families.unknownIn(resolved.value, "grants", "capability");
  if (unknown) return invalidPolicy(unknown.path, unknown.message, unknown.hint);
  const valid = validatorOf(families).validateOwn(resolved.value);
  if (!valid.ok) {
    const { instancePath, message, hint } = present(valid.errors[0]);
    return invalidPolicy(instancePath, message, hint);
  }
  // An editor's reference governs nothing: two files that differ in it alone are one policy.
  const { $schema: _, ...document } = valid.value as PolicyDocument;
  return checkDocument(document, families) ?? { ok: true, value: document };
}

/** The parts that are compared with requests, if the value is a document. */
function patternsOf(document: JsonValue, families: Families): JsonValue {
  if (!isJsonObject(document)) return null;
  const { grants = null, rules = [], tools = null } = document;
  const { conditions } = families;
  const patterns = (isJsonArray(rules) ? rules : []).flatMap((rule) => {
    const when = isJsonObject(rule) ? rule["when"] : undefined;
    const entries = isJsonObject(when) ? Object.entries(when) : [];
    return entries.flatMap(([name, value]) => (conditions.has(name) ? [value] : []));
  });
  return [grants, tools, patterns];
}
