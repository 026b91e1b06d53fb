import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "../../packages/kernel/src/json/json.ts";
import { allParts } from "../../packages/kernel/src/schema/all-parts.ts";
import { compileWhenUsed } from "../../packages/kernel/src/schema/compile-when-used.ts";
import { compileWithParts } from "../../packages/kernel/src/schema/compile-with-parts.ts";
import { countOwn } from "../../packages/kernel/src/schema/count-own.ts";
import { isSurelyValid } from "../../packages/kernel/src/schema/surely-valid.ts";
import type { SchemaParts } from "../../packages/kernel/src/schema/types.ts";
import { workloads } from "../bench/schema-workloads.ts";

const recorded = readFileSync(new URL("ajv-verdicts.jsonl", import.meta.url), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => (JSON.parse(line) as { readonly schema: JsonObject }).schema);

const odd: JsonValue[] = [
  null,
  true,
  0,
  -1,
  1.5,
  "",
  "(",
  "^(a)\\1$",
  "uuid",
  "no-such-format",
  [],
  {},
  [{}],
  [1],
  [[]],
  ["x"],
];
odd.push({ $ref: "#" }, { $ref: "#/$defs/a" }, { a: { $ref: "#/$defs/a" } }, { a: 1 }, { type: "text" }, [{ type: 3 }]);
const keywords =
  `$schema $id $anchor $dynamicAnchor $dynamicRef $ref $defs definitions type enum const default properties patternProperties
additionalProperties propertyNames required minProperties maxProperties dependentSchemas dependentRequired dependencies items
prefixItems additionalItems contains minContains maxContains uniqueItems minItems maxItems minLength maxLength pattern format
contentEncoding minimum maximum exclusiveMinimum exclusiveMaximum multipleOf allOf anyOf oneOf not if then else
unevaluatedItems unevaluatedProperties title description examples deprecated x-other`.split(/\s/);

/** Where a keyword with a value can stand. */
const around = (inner: JsonObject): JsonObject[] => [
  inner,
  { $defs: { a: inner }, properties: { x: { $ref: "#/$defs/a" } } },
  { $defs: { a: { anyOf: [inner] }, b: true }, allOf: [{ $ref: "#/$defs/a" }] },
  { $schema: "http://json-schema.org/draft-07/schema#", definitions: { a: inner }, not: { $ref: "#/definitions/a" } },
];
const single = keywords.flatMap((keyword) => odd.flatMap((value) => around({ [keyword]: value })));

function deep(levels: number): JsonObject {
  let schema: JsonObject = { type: "string" };
  for (let level = 0; level < levels; level++) schema = { properties: { a: schema } };
  return schema;
}

describe("a schema that is surely valid", () => {
  it("is one that the compiler takes", () => {
    const all = [...recorded, ...single, ...[10, 32, 33, 60, 200].map(deep)];
    const sure = all.filter((schema) => isSurelyValid(schema, allParts));
    expect(sure.filter((schema) => !compileWithParts(schema, allParts, countOwn).ok)).toEqual([]);
    expect(sure.length).toBeGreaterThan(500);
    expect(all.filter((schema) => !compileWithParts(schema, allParts, countOwn).ok).length).toBeGreaterThan(1_000);
  });

  it("is what tools usually have", () => {
    expect(workloads.filter(({ schema }) => !isSurelyValid(schema, allParts))).toEqual([]);
  });

  it.each([
    ["names escaped in a pointer", { $defs: { "a%20b": {} }, items: { $ref: "#/$defs/a%20b" } }],
    ["references in a circle", { $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } }],
    ["a reference to itself", { $ref: "#" }],
    ["many subschemas", { properties: Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`p${n}`, true])) }],
  ])("is none with %s", (_, schema) => {
    expect(isSurelyValid(schema, allParts)).toBe(false);
  });
});

describe("a schema that is compiled when it is used", () => {
  const counted = (): { readonly parts: SchemaParts; compiled: () => number } => {
    let count = 0;
    const linearPatterns: SchemaParts["linearPatterns"] = (limits, trusted) => {
      count++;
      return allParts.linearPatterns(limits, trusted);
    };
    return { parts: { ...allParts, linearPatterns, isSurelyValid }, compiled: () => count };
  };

  it("is looked at first, and compiled once", () => {
    const { parts, compiled } = counted();
    const result = compileWhenUsed({ type: "object", properties: { a: { type: "string", pattern: "^x" } } }, parts);
    if (!result.ok) throw new Error(result.error.message);
    expect(compiled()).toBe(1);
    expect([result.validator.check({ a: "x" }), result.validator.check({ a: "y" })]).toEqual([true, false]);
    expect(result.validator.validateOwn({ a: "y" }).ok).toBe(false);
    expect(result.validator.validateOwn({ a: "x" })).toEqual({ ok: true, value: { a: "x" } });
    expect(compiled()).toBe(2);
  });

  it("is refused at once, with the compiler's reason", () => {
    const refused = single.flatMap((schema) => {
      const compiled = compileWithParts(schema, allParts, countOwn);
      return compiled.ok ? [] : [{ schema, compiled }];
    });
    for (const { schema, compiled } of refused)
      expect(compileWhenUsed(schema, { ...allParts, isSurelyValid })).toEqual(compiled);
  });
});
