import { capabilitySchema } from "../capability/schema.ts";
import { checkCapability } from "../capability/check.ts";
import type { Capability } from "../capability/capability.ts";
import { hashJson } from "../normalize/hash.ts";
import type { JsonObject, JsonValue } from "../normalize/json.ts";
import { snapshot } from "../normalize/snapshot.ts";
import type { Setup } from "../result.ts";
import { requireValidator } from "../schema/require.ts";
import { effects, modes, risks } from "../tool/manifest.ts";
import { decisions, type PolicyDocument, type PolicyRule, postures } from "./policy.ts";

/** A policy that is ready to decide: checked, hashed, never changed. */
export interface Policy {
  readonly document: PolicyDocument;
  readonly hash: string;
  readonly rules: readonly LoadedRule[];
  /** What a caller is granted for a tool. */
  grants(tool: string, caller: string): readonly Capability[];
}

export interface LoadedRule {
  readonly rule: PolicyRule;
  readonly hash: string;
}

const name: JsonObject = { type: "string", minLength: 1, maxLength: 256 };
const oneOf = (values: readonly JsonValue[]): JsonObject => ({
  type: "array",
  items: { enum: values },
  minItems: 1,
  uniqueItems: true,
});
const names: JsonObject = { type: "array", items: name, minItems: 1, maxItems: 10_000, uniqueItems: true };

const policySchema: JsonObject = {
  type: "object",
  properties: {
    version: { const: "1" },
    posture: { enum: postures },
    grants: {
      type: "array",
      maxItems: 10_000,
      items: {
        type: "object",
        properties: { tool: name, caller: name, capability: capabilitySchema() },
        required: ["tool", "capability"],
        additionalProperties: false,
      },
    },
    rules: {
      type: "array",
      maxItems: 10_000,
      items: {
        type: "object",
        properties: {
          id: { type: "string", pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$" },
          effect: { enum: decisions },
          when: {
            type: "object",
            properties: {
              tool: names,
              category: names,
              tier: oneOf([0, 1, 2, 3, 4]),
              risk: oneOf(risks),
              mode: oneOf(modes),
              caller: names,
              session: names,
              effects: oneOf(effects),
            },
            additionalProperties: false,
          },
          reason: { type: "string", minLength: 1, maxLength: 500 },
        },
        required: ["id", "effect", "when", "reason"],
        additionalProperties: false,
      },
    },
  },
  required: ["version", "posture"],
  additionalProperties: false,
};

const policyValidator = requireValidator(policySchema);

/** What stands where no policy is given: everything above tier 0 is asked about or denied, and nothing is granted. */
export const defaultPolicy: PolicyDocument = { version: "1", posture: "strict" };

/** Checks a foreign document whole and makes a policy of it. */
export function loadPolicy(foreign: unknown): Setup<Policy> {
  const plain = snapshot(foreign);
  if (!plain.ok) return refused(plain.error.path, plain.error.message);
  const valid = policyValidator.validate(plain.value);
  if (!valid.ok) return refused(valid.errors[0]!.instancePath, valid.errors[0]!.message, valid.errors[0]!.hint);
  const document = valid.value as PolicyDocument;
  for (const [index, { capability }] of (document.grants ?? []).entries()) {
    const fault = checkCapability(capability);
    if (fault) return refused(`/grants/${index}/capability${fault.path}`, fault.message);
  }
  const seen = new Set<string>();
  for (const [index, { id }] of (document.rules ?? []).entries()) {
    if (seen.has(id))
      return refused(`/rules/${index}/id`, `Two rules have the id ${JSON.stringify(id)}.`, "Proofs name rules by id.");
    seen.add(id);
  }
  return { ok: true, value: makePolicy(document) };
}

function makePolicy(document: PolicyDocument): Policy {
  const byTool = new Map<string, NonNullable<PolicyDocument["grants"]>[number][]>();
  for (const grant of document.grants ?? []) byTool.set(grant.tool, [...(byTool.get(grant.tool) ?? []), grant]);
  return {
    document,
    hash: hashJson(document as unknown as JsonObject),
    rules: (document.rules ?? []).map((rule) => ({ rule, hash: hashJson(rule as unknown as JsonObject) })),
    grants: (tool, caller) =>
      [...(byTool.get(tool) ?? []), ...(byTool.get("*") ?? [])]
        .filter((grant) => grant.caller === undefined || grant.caller === caller)
        .map((grant) => grant.capability),
  };
}

function refused(path: string, message: string, hint = ""): Setup<never> {
  return { ok: false, error: { code: "INVALID_POLICY", path, message, hint } };
}
