import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  blake3Hash,
  hashJson,
  type JsonObject,
  type Proof,
  type ToolManifest,
  verifyProofDigest,
} from "@keyhole/kernel";
import { canonicalize } from "@keyhole/kernel/canonical";
import type { AuditPayloads, AuditType } from "../../packages/kernel/src/audit/event.ts";
import { LINE_BYTES } from "../../packages/kernel/src/audit/lines.ts";
import { payloadText } from "../../packages/kernel/src/audit/payload.ts";
import { bodyOf, kernelScope } from "../../packages/kernel/src/audit/scope.ts";
import { builtInFamilies } from "../../packages/kernel/src/capability/families/index.ts";
import { decisions, postures } from "../../packages/kernel/src/policy/document/policy.ts";
import { healthStates } from "../../packages/kernel/src/isolate/health.ts";
import { reasonCodes } from "../../packages/kernel/src/policy/proof/proof.ts";
import { decided, sealProof } from "../../packages/kernel/src/policy/proof/seal-proof.ts";
import { payloadSchemas } from "@keyhole/kernel/event-schema";
import { allParts } from "../../packages/kernel/src/schema/all-parts.ts";
import { requireValidator } from "../../packages/kernel/src/schema/compile-own.ts";
import { purityFindings } from "../../packages/kernel/src/isolate/verify-pure.ts";
import { errorCodes } from "../../packages/kernel/src/result.ts";
import { modes } from "../../packages/kernel/src/tool/manifest.ts";

/** What somebody chose: any text that the log can carry. */
const text = fc.string({ unit: "binary", maxLength: 12 }).map((each) => each.toWellFormed());
const digest = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map((n) => `blake3:${n.toString(16).padStart(64, "0")}`);
const id = fc.uuid();
const orNull = <T>(each: fc.Arbitrary<T>) => fc.option(each, { nil: null });
const count = fc.nat();
const kinds = fc.uniqueArray(fc.constantFrom(...builtInFamilies.kinds));
const used = fc.uniqueArray(fc.constantFrom(...builtInFamilies.effects));
const networkUse = { networkRequests: count, networkBytes: count };
const code = fc.constantFrom(...errorCodes);
const time = fc.constant("2026-10-01T12:00:00.000Z");

const proof: fc.Arbitrary<Proof> = fc
  .record({
    proofId: id,
    callId: id,
    parentProofId: orNull(id),
    decidedAt: time,
    traceparent: fc.constant("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
    decision: fc.constantFrom(...decisions),
    enforced: fc.boolean(),
    reasonCode: fc.constantFrom(...reasonCodes),
    tool: fc.constant("echo@1.0.0"),
    toolHash: digest,
    inputHash: digest,
    grantHash: digest,
    policyHash: digest,
    policyVersion: text,
    posture: fc.constantFrom(...postures),
    mode: fc.constantFrom(...modes),
    tier: fc.constantFrom(...([0, 1, 2, 3, 4] satisfies ToolManifest["tier"][])),
    determining: fc.array(fc.record({ ruleId: text, ruleHash: digest }), { maxLength: 3 }),
    errors: fc.array(fc.record({ ruleId: text, code: fc.constant("NOT_A_TEXT") }), { maxLength: 3 }),
    considered: count,
    stateReads: fc.array(
      fc.record({
        key: fc.oneof(text, fc.constant("labels")),
        value: fc.oneof(text, fc.double({ noNaN: true, noDefaultInfinity: true })),
      }),
      { maxLength: 4 },
    ),
    obligations: fc.array(text, { maxLength: 3 }),
    approval: orNull(
      fc.record({
        approvalId: id,
        argsHash: digest,
        approver: text,
        scope: fc.constantFrom("once" as const, "session" as const),
        nonce: text,
        expiresAt: time,
      }),
    ),
  })
  .chain((body) => fc.constantFrom(body, { ...body, normalizer: "sorted@1.0.0" }))
  .map((body) => sealProof(body, blake3Hash));

const payloads: { readonly [Type in AuditType]: fc.Arbitrary<AuditPayloads[Type]> } = {
  "tool.registered": fc.record({ tool: text, toolHash: digest }),
  "tool.unregistered": fc.record({ tool: text, toolHash: digest }),
  "tool.quarantined": fc.record({
    tool: text,
    toolHash: digest,
    caller: text,
    cause: fc.constantFrom("timeouts", "went-on"),
    failures: count,
    restMs: fc.integer({ min: 1, max: 60_000 }),
  }),
  "body.read": fc.record({ bodyHash: digest, bodyBytes: count, whole: fc.boolean() }),
  "purity.asked": fc.record({ tool: text, toolHash: digest, host: text, inputs: count }),
  "purity.answered": fc.record({
    tool: text,
    toolHash: digest,
    found: fc.constantFrom(...purityFindings),
    inputHash: orNull(digest),
    outcomeHashes: fc.array(digest, { maxLength: 2 }),
  }),
  "health.asked": fc.record({ tool: text, toolHash: digest, caller: text, host: text }),
  "health.answered": fc.record({
    tool: text,
    toolHash: digest,
    caller: text,
    state: fc.constantFrom(...healthStates),
  }),
  "policy.changed": fc.record({ policyHash: digest, previousHash: orNull(digest) }),
  "mode.changed": fc.record({ mode: fc.constantFrom(...modes), previous: fc.constantFrom(...modes), reason: text }),
  "call.invoked": fc.record({
    tool: text,
    caller: text,
    inputHash: orNull(digest),
    correlationId: orNull(text),
    parentCallId: orNull(id),
  }),
  "grant.revoked": fc.record({
    revocationId: id,
    match: fc.record({ caller: text, kinds }, { requiredKeys: ["caller"] }),
    reason: text,
    calls: count,
  }),
  "grant.restored": fc.record({ revocationId: id, reason: text }),
  "data.kept": fc.record({
    commitments: fc.dictionary(
      text.map((each) => `/input/${each}`),
      digest,
    ),
  }),
  "capability.checked": fc.record({ grantHash: digest, granted: kinds, missing: kinds }),
  "policy.decided": proof.map(decided),
  "approval.requested": fc.record({ approvalId: id, argsHash: digest, reason: text, expiresAt: time }),
  "approval.resolved": fc.record({
    approvalId: id,
    answer: fc.constantFrom("allow", "deny", "expired", "cancelled"),
    approver: text,
    reason: text,
  }),
  "call.queued": fc.record({ position: count, waitMs: count }),
  "tool.started": fc.record({ tool: text, toolHash: digest, host: text }),
  "capability.used": fc.record({
    index: count,
    kind: fc.constantFrom(...builtInFamilies.kinds),
    operation: text,
    target: text,
    outcome: fc.constantFrom("ok", "refused", "failed"),
    requestHash: digest,
    responseHash: digest,
  }),
  "call.keyed": fc.record({ keyHash: digest, argsHash: digest }),
  "result.reused": fc.record({ from: id, by: fc.constantFrom("cache", "idempotency-key") }),
  "tool.retried": fc.record({ attempt: count, code, errorHash: digest }),
  "tool.suspended": fc.record({ snapshotId: id }),
  "tool.resumed": fc.record({ snapshotId: id }),
  "tool.completed": fc.record(
    { outputHash: digest, outputBytes: count, effects: used, normalizer: text, ...networkUse },
    { requiredKeys: ["outputHash", "outputBytes", "effects"] },
  ),
  "tool.failed": fc.record(
    { code, errorHash: digest, effects: used, ...networkUse },
    { requiredKeys: ["code", "errorHash", "effects"] },
  ),
  "tool.blocked": fc.record({ code, errorHash: digest, effects: used }, { requiredKeys: ["code", "errorHash"] }),
  "tool.lost": fc.record({ lastSeq: count }),
  "log.recovered": fc.record({ cutBytes: count, lastSeq: orNull(count) }),
};

describe("what an event says", () => {
  it.each(Object.keys(payloads) as AuditType[])("is written as canonical JSON: %s", (type) => {
    fc.assert(
      fc.property(payloads[type] as fc.Arbitrary<AuditPayloads[AuditType]>, (payload) => {
        expect({ ok: true, text: payloadText(type, payload) }).toEqual(canonicalize(payload));
      }),
    );
  });
});

describe("the published schema", () => {
  it.each(Object.keys(payloads) as AuditType[])("takes whatever the type allows: %s", (type) => {
    const { validateOwn } = requireValidator(payloadSchemas[type], allParts);
    fc.assert(
      fc.property(payloads[type] as fc.Arbitrary<AuditPayloads[AuditType]>, (payload) => {
        expect(validateOwn(payload)).toMatchObject({ ok: true });
      }),
    );
  });
});

describe("a proof", () => {
  it("is hashed as canonical JSON, whatever the names in it are", () => {
    fc.assert(
      fc.property(proof, (sealed) => {
        const { hash, ...body } = sealed;
        expect(hash).toBe(hashJson(body as unknown as JsonObject));
        expect(verifyProofDigest(sealed)).toEqual({ ok: true });
      }),
    );
  });
});

it("an event has at most the bytes that each reader of a log takes", () => {
  const event = (payload: string): string =>
    bodyOf(kernelScope, { type: "log.recovered", seq: 1, id: "", time: "", payload, state: "", prev: "" });
  const most = LINE_BYTES - 256;
  const room = most - event('""').length;
  expect(event(`"${"x".repeat(room)}"`)).toHaveLength(most);
  expect(() => event(`"${"x".repeat(room + 1)}"`)).toThrow("more than 8388352 bytes");
  expect(() => event(`"${"é".repeat(room / 2 + 1)}"`)).toThrow("log.recovered");
});
