import { categoryPattern, toolNamePattern } from "../support/tool-names.ts";
import { boundsSchema } from "../bounds/schema.ts";
import type { Family } from "../capability/family.ts";
import type { Families } from "../capability/registry.ts";
import { deepFreeze } from "../json/freeze.ts";
import type { JsonObject } from "../json/json.ts";
import { pointerPattern } from "../json/pointer.ts";
import { httpTemplateSchema } from "./http-template.ts";
import { determinisms, modes, outputKinds, risks, toolSources } from "./manifest.ts";

/** The optional members of a definition. A package has all of them. */
export const manifestDefaults: {
  readonly effects: readonly [];
  readonly determinism: "pure";
  readonly tier: 0;
  readonly capabilities: readonly [];
  readonly bounds: Readonly<Record<string, never>>;
} = deepFreeze({ effects: [], determinism: "pure", tier: 0, capabilities: [], bounds: {} });

const text = (maxLength: number): JsonObject => ({ type: "string", minLength: 1, maxLength });

/** JSON Schema (2020-12) of a manifest whose capabilities are of these families. */
export function manifestSchema(families: Families): JsonObject {
  return { type: "object", properties: properties(families), required, additionalProperties: false };
}

const properties = (families: Families): JsonObject => ({
  name: { type: "string", pattern: toolNamePattern },
  version: { type: "string", pattern: "^\\d+\\.\\d+\\.\\d+([-+][0-9A-Za-z.+-]+)?$", maxLength: 256 },
  title: text(100),
  description: text(4000),
  category: { type: "string", pattern: categoryPattern },
  effects: { type: "array", items: { enum: families.effects }, uniqueItems: true, default: manifestDefaults.effects },
  determinism: { enum: determinisms, default: manifestDefaults.determinism },
  tier: { enum: [0, 1, 2, 3, 4], default: manifestDefaults.tier },
  risk: { enum: risks },
  modes: { type: "array", items: { enum: modes }, minItems: 1, uniqueItems: true },
  approval: { enum: ["policy", "always"] },
  idempotent: { type: "boolean" },
  program: text(64),
  source: { enum: toolSources },
  wasm: {
    type: "object",
    properties: {
      args: { type: "array", items: { type: "string" } },
      environment: { type: "object", additionalProperties: { type: "string" } },
    },
    additionalProperties: false,
  },
  process: {
    type: "object",
    properties: { command: text(64), args: { type: "array", items: { type: "string" }, maxItems: 100 } },
    required: ["command"],
    additionalProperties: false,
  },
  http: httpTemplateSchema,
  capabilities: {
    type: "array",
    items: families.schema(declaration),
    maxItems: 100,
    default: manifestDefaults.capabilities,
  },
  bounds: { ...boundsSchema, default: manifestDefaults.bounds },
  input: { type: "object", properties: { type: { const: "object" } }, required: ["type"] },
  body: { type: "object", properties: { mediaType: text(200) }, additionalProperties: false },
  output: {
    type: "object",
    properties: {
      kind: { enum: outputKinds },
      schema: { type: "object" },
      mediaType: text(200),
      transfer: { type: "boolean" },
    },
    required: ["kind"],
    additionalProperties: false,
  },
  normalization: {
    type: "object",
    properties: { custom: { type: "string", pattern: toolNamePattern } },
    required: ["custom"],
    additionalProperties: false,
  },
});

/** The members of a capability in a manifest alone. */
function declaration({ targetArguments }: Family): JsonObject {
  const optional = { type: "boolean" };
  if (!targetArguments) return { optional };
  const { required: needed, optional: others = [] } = targetArguments;
  const pointer = { type: "string", pattern: pointerPattern, maxLength: 1_024 };
  const parts = Object.fromEntries([...needed, ...others].map((name) => [name, pointer]));
  return { optional, target: { type: "object", properties: parts, required: needed, additionalProperties: false } };
}

const required = [
  "name",
  "version",
  "description",
  "effects",
  "determinism",
  "tier",
  "source",
  "capabilities",
  "bounds",
  "input",
  "output",
];
