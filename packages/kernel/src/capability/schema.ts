import type { JsonObject } from "../json/json.ts";
import { statementKinds } from "./capability.ts";

export const count: JsonObject = { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER };
/** UTF-16 units of one pattern, of one argument of a command; and how many arguments there are. */
export const capabilityLimits: {
  readonly patternLength: number;
  readonly argumentLength: number;
  readonly arguments: number;
} = { patternLength: 1024, argumentLength: 4096, arguments: 100 };

/** Globs, host patterns, path prefixes. */
export const patterns: JsonObject = {
  type: "array",
  items: { type: "string", minLength: 1, maxLength: capabilityLimits.patternLength },
  minItems: 1,
  maxItems: 1000,
  uniqueItems: true,
};

/** Of keys, of which the empty one is the widest. */
const prefixes: JsonObject = { ...patterns, items: { type: "string", maxLength: capabilityLimits.patternLength } };

const argument: JsonObject = { type: "string", maxLength: capabilityLimits.argumentLength };
const form = (properties: JsonObject): JsonObject => ({
  type: ["string", "object"],
  maxLength: capabilityLimits.argumentLength,
  properties,
  minProperties: 1,
  maxProperties: 1,
  additionalProperties: false,
});
const whole: JsonObject = { type: "integer", minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };
const forms: JsonObject = {
  oneOf: { type: "array", items: argument, minItems: 1, maxItems: 1000, uniqueItems: true },
  prefix: argument,
  path: patterns,
  number: { type: "object", properties: { min: whole, max: whole }, additionalProperties: false },
};

/** What a command may be given: one pattern per argument. */
const commands: JsonObject = {
  type: "array",
  items: {
    type: "object",
    properties: {
      command: { type: "string", minLength: 1, maxLength: 64 },
      args: { type: "array", items: form({ ...forms, rest: form(forms) }), maxItems: capabilityLimits.arguments },
    },
    required: ["command"],
    additionalProperties: false,
  },
  minItems: 1,
  maxItems: 1000,
};

/** Every property of every kind of capability, `kind` aside. */
const kinds: readonly JsonObject[] = [
  {
    properties: {
      kind: { enum: ["net.read", "net.write"] },
      hosts: patterns,
      ports: {
        type: "array",
        items: { type: "integer", minimum: 1, maximum: 65535 },
        minItems: 1,
        maxItems: 100,
        uniqueItems: true,
      },
      paths: patterns,
      methods: {
        type: "array",
        items: { type: "string", pattern: "^[A-Z]{1,20}$" },
        minItems: 1,
        maxItems: 20,
        uniqueItems: true,
      },
      requests: count,
      bytes: count,
    },
    required: ["kind", "hosts"],
  },
  {
    properties: {
      kind: { enum: ["fs.read", "fs.write"] },
      paths: patterns,
      except: patterns,
      fileBytes: count,
      totalBytes: count,
    },
    required: ["kind", "paths"],
  },
  {
    properties: {
      kind: { enum: ["db.read", "db.write"] },
      databases: patterns,
      statements: {
        type: "array",
        items: { enum: statementKinds },
        minItems: 1,
        maxItems: statementKinds.length,
        uniqueItems: true,
      },
      rows: count,
    },
    required: ["kind", "databases"],
  },
  {
    properties: { kind: { enum: ["kv.read", "kv.write"] }, keys: prefixes, valueBytes: count },
    required: ["kind", "keys"],
  },
  { properties: { kind: { const: "process.spawn" }, commands }, required: ["kind", "commands"] },
  { properties: { kind: { const: "tool.call" }, tools: patterns }, required: ["kind", "tools"] },
  {
    properties: { kind: { const: "secret.use" }, names: patterns, hosts: patterns },
    required: ["kind", "names", "hosts"],
  },
  { properties: { kind: { enum: ["clock", "random"] } }, required: ["kind"] },
];

/** JSON Schema (2020-12) of a capability, with more properties where a document adds some. */
export function capabilitySchema(more: JsonObject = {}): JsonObject {
  return {
    oneOf: kinds.map((kind) => ({
      type: "object",
      properties: { ...(kind["properties"] as JsonObject), ...more },
      required: kind["required"]!,
      additionalProperties: false,
    })),
  };
}
