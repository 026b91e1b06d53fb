import type { JsonObject, JsonValue } from "@keyhole/kernel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compilePointer } from "../../../packages/kernel/src/json/pointer.ts";
import { compileSchema } from "../../../packages/kernel/src/schema/index.ts";
import { argumentFault } from "../../../packages/kernel/src/tool/argument-place.ts";
import { sized } from "../../support/size.ts";

const text: JsonObject = { type: "string" };
const closed = (properties: JsonObject): JsonObject => ({ type: "object", properties, additionalProperties: false });

describe("a pointer that no valid input can have", () => {
  it.each<[string, JsonObject, string]>([
    ["to the whole input", closed({ path: text }), ""],
    ["to a member that is not there", closed({ path: text }), "/url"],
    ["to a number", closed({ path: { type: "integer" } }), "/path"],
    ["to a list", closed({ path: { type: "array", items: text } }), "/path"],
    ["into a text", closed({ path: text }), "/path/0"],
    ["to a constant that is no text", closed({ path: { const: 1 } }), "/path"],
    ["to values of which none is a text", closed({ path: { enum: [1, null] } }), "/path"],
    ["to nothing", closed({ path: false }), "/path"],
    ["to a name of every object's prototype", closed({ path: text }), "/constructor"],
    ["to the prototype itself", closed({ path: text }), "/__proto__"],
    ["into the prototype", closed({ path: text }), "/__proto__/path"],
    ["that one part of all rules out", { type: "object", allOf: [closed({ path: text })] }, "/url"],
    [
      "that each alternative rules out",
      { type: "object", anyOf: [closed({}), closed({ path: { type: "null" } })] },
      "/path",
    ],
    ["behind the end of a list", closed({ in: { type: "array", prefixItems: [text], items: false } }), "/in/1"],
    ["to an index with a leading zero", closed({ in: { type: "array", items: text } }), "/in/00"],
  ])("is found: %s", (_, schema, pointer) => {
    expect(argumentFault(schema, pointer)).toMatch(/^the schema of the input /);
  });

  it.each<[string, JsonObject, string]>([
    ["a member", closed({ path: text }), "/path"],
    ["an escaped name", closed({ "a/b~c": text }), "/a~1b~0c"],
    ["any member", { type: "object" }, "/anything/at/all"],
    ["a nullable member", closed({ path: { type: ["string", "null"] } }), "/path"],
    ["one of alternatives", { type: "object", oneOf: [closed({}), closed({ path: text })] }, "/path"],
    ["a reference, which is not followed", closed({ path: { $ref: "#/$defs/path" } }), "/path"],
    [
      "a name that a pattern may allow",
      { type: "object", patternProperties: { p: text }, additionalProperties: false },
      "/path",
    ],
    ["an item", closed({ in: { type: "array", items: text } }), "/in/3"],
    ["an own property with a name of the prototype", closed({ constructor: text }), "/constructor"],
  ])("is not: %s", (_, schema, pointer) => {
    expect(argumentFault(schema, pointer)).toBeUndefined();
  });
});

const leaf = fc.constantFrom<JsonValue>(
  true,
  false,
  text,
  { type: "integer" },
  { type: ["string", "null"] },
  { enum: ["x", 1] },
  { const: 1 },
  {},
);
const { schema } = fc.letrec<{ schema: JsonValue }>((tie) => ({
  schema: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    leaf,
    fc.record(
      {
        type: fc.constantFrom("object", ["object", "array"], "array"),
        properties: fc.dictionary(fc.constantFrom("a", "b", "__proto__"), tie("schema"), { maxKeys: 2 }),
        additionalProperties: fc.oneof(fc.boolean(), tie("schema")),
        prefixItems: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }),
        items: fc.oneof(fc.boolean(), tie("schema")),
        allOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }),
        anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }),
        oneOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }),
      },
      { requiredKeys: [] },
    ),
  ),
}));
const token = fc.constantFrom("a", "b", "0", "1", "__proto__");
const value = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: "medium" },
    fc.constantFrom<JsonValue>("x", "y", 1, null, true),
    fc.dictionary(token, tie("value"), { maxKeys: 2 }),
    fc.array(tie("value"), { maxLength: 2 }),
  ),
})).value;

/** Where a value has a text, as JSON Pointers. */
function textsIn(given: JsonValue, at = ""): readonly string[] {
  if (typeof given === "string") return [at];
  return Object.entries(Object(given) as JsonObject).flatMap(([name, each]) => textsIn(each, `${at}/${name}`));
}

it("never finds a fault where some valid input has a text", () => {
  let texts = 0;
  fc.assert(
    fc.property(schema, value, (of, input) => {
      const pointers = textsIn(input);
      if (pointers.length === 0) return;
      const compiled = compileSchema(of, { defaults: "ignore" });
      if (!compiled.ok || !compiled.validator.validate(input).ok) return;
      texts += pointers.length;
      for (const pointer of pointers) {
        expect(compilePointer(pointer)(input)).toBeTypeOf("string");
        expect(argumentFault(of, pointer)).toBeUndefined();
      }
    }),
    { numRuns: sized(2_000, 100_000), seed: 3 },
  );
  expect(texts).toBeGreaterThan(50);
});
