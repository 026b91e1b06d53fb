import { digestPattern } from "../../hash/hash.ts";
import type { JsonObject } from "../../json/json.ts";
import { decisions, postures } from "../document/policy.ts";
import { type Proof, reasonCodes } from "../proof/proof.ts";
import { snapshot } from "../../json/snapshot.ts";
import { allParts } from "../../schema/all-parts.ts";
import { requireValidator } from "../../schema/compile-own.ts";
import { modes } from "../../tool/manifest.ts";

const text: JsonObject = { type: "string", maxLength: 4_096 };
const digest: JsonObject = { type: "string", pattern: digestPattern };
const object = (properties: JsonObject, optional: readonly string[] = []): JsonObject => ({
  type: "object",
  properties,
  required: Object.keys(properties).filter((key) => !optional.includes(key)),
  additionalProperties: false,
});
const assertion = object({
  credentialId: text,
  authenticatorData: text,
  clientDataJSON: text,
  signature: text,
  caller: text,
  sessionId: text,
  askedUntil: text,
});
const list = (items: JsonObject): JsonObject => ({ type: "array", items, maxItems: 100_000 });

/** JSON Schema (2020-12) of a proof. */
export const proofSchema: JsonObject = object(
  {
    v: { const: 1 },
    proofId: text,
    callId: text,
    parentProofId: { type: ["string", "null"] },
    decidedAt: { type: "string", pattern: "^[0-9T:.-]{23}Z$" },
    traceparent: text,
    decision: { enum: decisions },
    enforced: { type: "boolean" },
    reasonCode: { enum: reasonCodes },
    tool: text,
    toolHash: digest,
    inputHash: digest,
    grantHash: digest,
    policyHash: digest,
    policyVersion: text,
    engineVersion: text,
    posture: { enum: postures },
    mode: { enum: modes },
    tier: { enum: [0, 1, 2, 3, 4] },
    determining: list(object({ ruleId: text, ruleHash: digest })),
    errors: list(object({ ruleId: text, code: text })),
    considered: { type: "integer", minimum: 0 },
    stateReads: list(object({ key: text, value: { type: ["string", "number"] } })),
    obligations: list(text),
    normalizer: text,
    approval: {
      anyOf: [
        { type: "null" },
        object(
          {
            approvalId: text,
            argsHash: digest,
            approver: text,
            scope: { enum: ["once", "session", "pattern"] },
            rule: { type: "object" },
            nonce: text,
            expiresAt: text,
            passkey: assertion,
          },
          ["rule", "passkey"],
        ),
      ],
    },
    request: object({ kind: text, target: text, reason: text }),
    hash: digest,
    signature: object({ alg: { const: "EdDSA" }, kid: text, value: text }),
  },
  ["signature", "normalizer", "request"],
);

const validator = requireValidator(proofSchema, allParts);

/** Whether foreign data has the shape of a proof. It says nothing about whether the proof is true. */
export function isProof(foreign: unknown): foreign is Proof {
  const plain = snapshot(foreign);
  return plain.ok && validator.check(plain.value);
}
