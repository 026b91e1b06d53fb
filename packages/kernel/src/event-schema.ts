import { digestPattern } from "./hash/hash.ts";
import type { AuditPayloads, AuditType } from "./audit/event.ts";
import { healthStates } from "./isolate/health.ts";
import { purityFindings } from "./isolate/verify-pure.ts";
import type { JsonObject } from "./json/json.ts";
import { decisions } from "./policy/document/policy.ts";
import { reasonCodes } from "./policy/proof/proof.ts";
import { errorCodes } from "./result.ts";
import { proofSchema } from "./policy/review/proof-schema.ts";
import { modes } from "./tool/manifest.ts";

/*
 * `@keyhole/kernel/event-schema`: the published form of the log, for those who read it with other means. Nothing that a kernel runs imports it.
 */

const text: JsonObject = { type: "string" };
const textOrNull: JsonObject = { type: ["string", "null"] };
const count: JsonObject = { type: "integer", minimum: 0 };
const digest: JsonObject = { type: "string", pattern: digestPattern };
const digestOrNull: JsonObject = { ...digest, type: ["string", "null"] };
const time: JsonObject = { type: "string", pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$" };
const uuid: JsonObject = {
  type: "string",
  pattern: "^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$",
};
/** Of a capability. The families of a kernel say which there are. */
const kind: JsonObject = { type: "string", pattern: "^[a-z][a-z0-9]{0,31}(\\.[a-z][a-z0-9]{0,31})?$" };
const oneOf = (values: readonly string[]): JsonObject => ({ enum: values });
const list = (items: JsonObject): JsonObject => ({ type: "array", items });
const closed = (properties: JsonObject, optional: readonly string[] = []): JsonObject => ({
  type: "object",
  properties,
  required: Object.keys(properties).filter((key) => !optional.includes(key)),
  additionalProperties: false,
});

/** Every member of the payload, and no other: the compiler holds schema and type together. */
type Members<Payload> = { readonly [Key in keyof Payload]-?: JsonObject };
type Optional<Payload> = { [Key in keyof Payload]-?: undefined extends Payload[Key] ? Key : never }[keyof Payload];

function payload<Type extends AuditType>(
  properties: Members<AuditPayloads[Type]>,
  optional: readonly Optional<AuditPayloads[Type]>[] = [],
): JsonObject {
  return closed({ ...properties }, optional as readonly string[]);
}

/** As a broker reports it. */
const amount: JsonObject = { type: "number", minimum: 0 };
/** Only where the host counts it. */
const usage = { fuelUsed: count, peakMemoryBytes: count, networkRequests: amount, networkBytes: amount };
const usageNames = ["fuelUsed", "peakMemoryBytes", "networkRequests", "networkBytes"] as const;
const ended = { code: oneOf(errorCodes), errorHash: digest };

/** JSON Schema (2020-12) of what each type of event says. */
export const payloadSchemas: { readonly [Type in AuditType]: JsonObject } = {
  "tool.registered": payload<"tool.registered">({ tool: text, toolHash: digest }),
  "tool.unregistered": payload<"tool.unregistered">({ tool: text, toolHash: digest }),
  "tool.quarantined": payload<"tool.quarantined">(
    {
      tool: text,
      toolHash: digest,
      caller: text,
      cause: oneOf(["timeouts", "went-on"]),
      failures: count,
      restMs: { type: "number", exclusiveMinimum: 0 },
    },
    ["caller", "cause"],
  ),
  "health.asked": payload<"health.asked">({ tool: text, toolHash: digest, caller: text, host: text }),
  "health.answered": payload<"health.answered">({
    tool: text,
    toolHash: digest,
    caller: text,
    state: oneOf(healthStates),
  }),
  "purity.asked": payload<"purity.asked">({ tool: text, toolHash: digest, host: text, inputs: count }),
  "purity.answered": payload<"purity.answered">({
    tool: text,
    toolHash: digest,
    found: oneOf(purityFindings),
    inputHash: digestOrNull,
    outcomeHashes: list(digest),
  }),
  "policy.changed": payload<"policy.changed">({ policyHash: digest, previousHash: digestOrNull }),
  "mode.changed": payload<"mode.changed">({ mode: oneOf(modes), previous: oneOf(modes), reason: text, author: text }, [
    "author",
  ]),
  "grant.revoked": payload<"grant.revoked">({
    revocationId: text,
    match: closed({ caller: text, sessionId: text, tool: text, callId: text, kinds: list(kind) }, [
      "caller",
      "sessionId",
      "tool",
      "callId",
      "kinds",
    ]),
    reason: text,
    calls: count,
  }),
  "grant.restored": payload<"grant.restored">({ revocationId: text, reason: text }),
  "call.invoked": payload<"call.invoked">({
    tool: text,
    caller: text,
    inputHash: digestOrNull,
    correlationId: textOrNull,
    parentCallId: textOrNull,
  }),
  "body.read": payload<"body.read">({ bodyHash: digest, bodyBytes: count, whole: { type: "boolean" } }),
  "call.keyed": payload<"call.keyed">({ keyHash: digest, argsHash: digest }),
  "result.reused": payload<"result.reused">({ from: text, by: oneOf(["cache", "idempotency-key"]) }),
  "tool.retried": payload<"tool.retried">({ attempt: count, ...ended }),
  "data.kept": payload<"data.kept">({
    commitments: { type: "object", propertyNames: { pattern: "^/(input|output)(/|$)" }, additionalProperties: digest },
  }),
  "capability.checked": payload<"capability.checked">({
    grantHash: digest,
    granted: list(kind),
    missing: list(kind),
  }),
  "policy.decided": payload<"policy.decided">(
    {
      decision: oneOf(decisions),
      enforced: { type: "boolean" },
      reasonCode: oneOf(reasonCodes),
      rules: list(text),
      policyHash: digest,
      proofHash: digest,
      labels: text,
      proof: proofSchema,
    },
    ["labels", "proof"],
  ),
  "approval.requested": payload<"approval.requested">({
    approvalId: text,
    argsHash: digest,
    reason: text,
    expiresAt: time,
  }),
  "approval.resolved": payload<"approval.resolved">({
    approvalId: text,
    answer: oneOf(["allow", "deny", "expired", "cancelled"]),
    approver: text,
    reason: text,
  }),
  "call.queued": payload<"call.queued">({ position: count, waitMs: count }),
  "tool.started": payload<"tool.started">({ tool: text, toolHash: digest, host: text }),
  "capability.used": payload<"capability.used">({
    index: count,
    kind: kind,
    operation: text,
    target: text,
    outcome: oneOf(["ok", "refused", "failed"]),
    requestHash: digest,
    responseHash: digest,
  }),
  "tool.suspended": payload<"tool.suspended">({ snapshotId: text }),
  "tool.resumed": payload<"tool.resumed">({ snapshotId: text }),
  "tool.completed": payload<"tool.completed">(
    { outputHash: digest, outputBytes: count, normalizer: text, effects: list(kind), ...usage },
    [...usageNames, "normalizer"],
  ),
  "tool.failed": payload<"tool.failed">({ ...ended, effects: list(kind), ...usage }, usageNames),
  "tool.blocked": payload<"tool.blocked">({ ...ended, effects: list(kind) }, ["effects"]),
  "tool.lost": payload<"tool.lost">({ lastSeq: count }),
  "log.recovered": payload<"log.recovered">({ cutBytes: count, lastSeq: { type: ["integer", "null"], minimum: 0 } }),
};

/** Table, version of its rows, key, and the row; `null` where the row is gone. */
const rowChange: JsonObject = {
  type: "array",
  prefixItems: [text, { type: "integer", minimum: 1 }, text, {}],
  minItems: 4,
  items: false,
};

const eventOf = (type: string, payload: JsonObject): JsonObject =>
  closed(
    {
      v: { const: 1 },
      seq: count,
      id: uuid,
      time,
      type: { const: type },
      callId: textOrNull,
      sessionId: textOrNull,
      traceparent: textOrNull,
      payload,
      state: { ...list(rowChange), minItems: 1 },
      prev: digest,
      hash: digest,
    },
    ["state"],
  );

/**
 * JSON Schema (2020-12) of one event of the log: a closed union over its types. A schema says nothing about chain and digests; `verifyAudit` does.
 */
export const eventSchema: JsonObject = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  $id: "urn:keyhole:audit-event:1",
  title: "An event of a Keyhole audit log",
  oneOf: Object.entries(payloadSchemas).map(([type, schema]) => eventOf(type, schema)),
};
