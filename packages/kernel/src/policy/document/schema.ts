import { toolNamePattern } from "../../support/tool-names.ts";
import { boundsSchema } from "../../bounds/schema.ts";
import { count as limit, patternsSchema as patterns } from "../../capability/fields.ts";
import type { Families } from "../../capability/registry.ts";
import type { JsonObject, JsonValue } from "../../json/json.ts";
import { pointerPattern } from "../../json/pointer.ts";
import { modes, risks } from "../../tool/manifest.ts";
import { decisions, postures, weekdays } from "./policy.ts";

const text = (maxLength: number): JsonObject => ({ type: "string", minLength: 1, maxLength });
const list = (items: JsonObject, maxItems: number, minItems = 1): JsonObject => ({
  type: "array",
  items,
  minItems,
  maxItems,
  uniqueItems: true,
});
const oneOf = (values: readonly JsonValue[]): JsonObject => list({ enum: values }, values.length);
const object = (properties: JsonObject, required: readonly string[] = [], more: JsonObject = {}): JsonObject => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
  ...more,
});
const map = (additionalProperties: JsonObject, pattern: string): JsonObject => ({
  type: "object",
  propertyNames: { pattern },
  maxProperties: 10_000,
  additionalProperties,
});

const { schema: count } = limit;
const name = text(256);
const names = list(name, 10_000);
const number: JsonObject = { type: "number" };
const pointer: JsonObject = { type: "string", pattern: pointerPattern, maxLength: 1_024 };
const clock: JsonObject = { type: "string", pattern: "^([01][0-9]|2[0-3]):[0-5][0-9]$|^24:00$" };
const instant: JsonObject = {
  type: "string",
  pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,3})?(Z|[+-][0-9]{2}:[0-9]{2})$",
};
const tier = [0, 1, 2, 3, 4];
const values: JsonObject = { type: "array", minItems: 1, maxItems: 10_000 };
const windowMs: JsonObject = { type: "integer", minimum: 1, maximum: 2_678_400_000 };
const per: JsonObject = list({ enum: ["caller", "session", "tool"] }, 3, 0);

const argument = object(
  {
    at: pointer,
    exists: { type: "boolean" },
    equals: true,
    differs: true,
    in: values,
    notIn: values,
    lessThan: number,
    atMost: number,
    moreThan: number,
    atLeast: number,
    longerThan: count,
    startsWith: text(1_024),
    endsWith: text(1_024),
    contains: text(1_024),
    hostIn: patterns,
    hostNotIn: patterns,
    pathIn: patterns,
    pathNotIn: patterns,
  },
  ["at"],
  { minProperties: 2, maxProperties: 2 },
);

/** SubjectPublicKeyInfo in base64url. Its first bytes say the algorithm: ECDSA with P-256, Ed25519, RSA. */
const publicKey =
  "^(MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE[A-Za-z0-9_-]{86}|MCowBQYDK2VwAyEA[A-Za-z0-9_-]{43}|MIIB[A-Za-z0-9_-]{388,736}|MIIC[A-Za-z0-9_-]{388,736})$";

const passkeys = object(
  {
    rpId: { type: "string", pattern: "^[a-z0-9-]+([.][a-z0-9-]+)*$", maxLength: 253 },
    origins: list(text(300), 20),
    keys: list(
      object(
        {
          approver: name,
          credentialId: { type: "string", pattern: "^[A-Za-z0-9_-]{16,1366}$" },
          publicKey: { type: "string", pattern: publicKey },
        },
        ["approver", "credentialId", "publicKey"],
      ),
      1_000,
    ),
  },
  ["rpId", "origins", "keys"],
);

const governed = object({ allowed: patterns, forbidden: patterns });

const requestConditions = ({ conditions }: Families): JsonObject =>
  Object.fromEntries(Array.from(conditions, ([each, [first]]) => [each, first?.schema ?? patterns]));

const lists = ({ conditions }: Families): JsonObject =>
  Object.fromEntries(
    [...conditions.values()].flat().flatMap(({ list: each }) => (each ? [[each.name, governed]] : [])),
  );

const sizes = (families: Families): JsonObject =>
  Object.fromEntries(Array.from(families).flatMap(({ sizeName }) => (sizeName ? [[sizeName, count]] : [])));

const condition = (families: Families): JsonObject =>
  object({
    tool: names,
    version: name,
    category: names,
    tier: oneOf(tier),
    risk: oneOf(risks),
    mode: oneOf(modes),
    caller: names,
    session: names,
    effects: oneOf(families.effects),
    capability: oneOf(families.kinds),
    ...requestConditions(families),
    arguments: { type: "array", items: argument, minItems: 1, maxItems: 100 },
    labels: names,
    time: object(
      {
        days: oneOf(weekdays),
        from: clock,
        to: clock,
        utcOffsetMinutes: { type: "integer", minimum: -840, maximum: 840 },
        after: instant,
        before: instant,
      },
      [],
      { minProperties: 1 },
    ),
    count: object({ windowMs, per, sum: pointer, moreThan: number, atMost: number }, ["windowMs"], {
      oneOf: [{ required: ["moreThan"] }, { required: ["atMost"] }],
    }),
  });

const example = (families: Families): JsonObject =>
  object({
    tool: name,
    version: name,
    category: name,
    tier: { enum: tier },
    risk: { enum: risks },
    effects: { type: "array", items: { enum: families.effects } },
    caller: name,
    session: name,
    mode: { enum: modes },
    arguments: { type: "object" },
    capability: { enum: families.kinds },
    ...Object.fromEntries(Array.from(families.conditions.keys(), (each) => [each, text(1_024)])),
    labels: names,
    time: instant,
    count: number,
  });
const examples = (families: Families): JsonObject => ({ type: "array", items: example(families), maxItems: 100 });

const governance = (families: Families): JsonObject =>
  object({
    modes: object({
      allowed: oneOf(modes),
      forbidden: oneOf(modes),
      approval: oneOf(modes),
      lockdown: { const: "ask" },
    }),
    ...lists(families),
    sizes: object({ inputBytes: count, ...sizes(families) }),
    bounds: boundsSchema,
    keep: object({ input: list(pointer, 100), output: list(pointer, 100) }),
    rate: object({ calls: count, windowMs, per }, ["calls", "windowMs"]),
  });

/** The form of a rule's id, and of a label. */
const id = "^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$";

/**
 * JSON Schema (2020-12) of a policy document. Later checks cover patterns, pointers and circles.
 */
export const documentSchema = (families: Families): JsonObject =>
  object(
    {
      $schema: { type: "string" },
      version: { const: "1" },
      posture: { enum: postures },
      enforcement: { enum: ["enforce", "observe"] },
      grants: {
        type: "array",
        maxItems: 10_000,
        items: object({ tool: name, caller: name, capability: families.schema() }, ["tool", "capability"]),
      },
      rules: {
        type: "array",
        maxItems: 20_000,
        items: object(
          {
            id: { type: "string", pattern: id },
            effect: { enum: decisions },
            approver: { const: "passkey" },
            when: condition(families),
            reason: text(500),
            examples: object({ match: examples(families), notMatch: examples(families) }),
          },
          ["id", "effect", "when", "reason"],
        ),
      },
      tools: map(governance(families), toolNamePattern),
      approvers: names,
      approver: { const: "passkey" },
      passkeys,
      labels: map(object({ tools: names, implies: names }), id),
    },
    ["version", "posture"],
  );
