import type { Families } from "../../capability/registry.ts";
import type { Hash } from "../../hash/hash.ts";
import { snapshot } from "../../json/snapshot.ts";
import type { Setup } from "../../result.ts";
import type { Validator } from "../../schema/index.ts";
import { requireValidator } from "../../schema/require.ts";
import { checkDocument } from "./check.ts";
import { failingExample } from "./examples.ts";
import { invalidPolicy } from "./invalid.ts";
import { loadRules, makePolicy, type Policy } from "./make.ts";
import type { PolicyDocument } from "./policy.ts";
import { documentSchema } from "./schema.ts";
import { type PolicyVariables, resolveVariables } from "./variables.ts";

const validators = /* @__PURE__ */ new WeakMap<Families, Validator>();

function validatorOf(families: Families): Validator {
  const validator = validators.get(families) ?? requireValidator(documentSchema(families));
  validators.set(families, validator);
  return validator;
}

/**
 * Checks a foreign document whole and makes a policy of it. `variables` are the values of `${NAME}` in its texts.
 *
 * @param by The algorithm of its digests.
 * @param families The kinds that it can name.
 */
export function loadPolicy(foreign: unknown, variables: PolicyVariables, by: Hash, families: Families): Setup<Policy> {
  const read = readDocument(foreign, variables, families);
  if (!read.ok) return read;
  const document = read.value;
  const rules = loadRules(document, by, families);
  for (const [index, rule] of rules.entries()) {
    const failing = failingExample(rule, families);
    if (failing) return invalidPolicy(`/rules/${index}${failing.path}`, failing.message);
  }
  return { ok: true, value: makePolicy(document, by, families, rules) };
}

/** The document with its variables filled in, checked but for the examples of its rules. */
export function readDocument(foreign: unknown, variables: PolicyVariables, families: Families): Setup<PolicyDocument> {
  const plain = snapshot(foreign);
  if (!plain.ok) return invalidPolicy(plain.error.path, plain.error.message);
  const resolved = resolveVariables(plain.value, variables);
  if (!resolved.ok) return resolved;
  const valid = validatorOf(families).validate(resolved.value);
  if (!valid.ok) return invalidPolicy(valid.errors[0]!.instancePath, valid.errors[0]!.message, valid.errors[0]!.hint);
  // An editor's reference governs nothing: two files that differ in it alone are one policy.
  const { $schema: _, ...document } = valid.value as PolicyDocument;
  return checkDocument(document, families) ?? { ok: true, value: document };
}
