import type { JsonObject } from "../normalize/json.ts";

export const count: JsonObject = { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER };
/** Globs, host patterns, path prefixes. */
export const patterns: JsonObject = {
  type: "array",
  items: { type: "string", minLength: 1, maxLength: 1024 },
  minItems: 1,
  maxItems: 1000,
  uniqueItems: true,
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
    properties: { kind: { enum: ["fs.read", "fs.write"] }, paths: patterns, except: patterns, fileBytes: count },
    required: ["kind", "paths"],
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
