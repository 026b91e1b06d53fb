import { describe, expect, it } from "vitest";
import { errors, one } from "./compiled.ts";

describe("one error says where, what was expected, and what came", () => {
  it.each([
    [{ type: "string" }, 5, "type", "a string", "the number 5"],
    [{ type: ["string", "null"] }, true, "type", "a string or null", "true"],
    [{ type: "integer" }, 1.5, "type", "an integer", "the number 1.5"],
    [{ type: "array" }, {}, "type", "an array", "an object"],
    [{ type: "object" }, [1], "type", "an object", "an array of 1 item"],
    [{ const: { a: 1 } }, null, "const", '{"a":1}', "null"],
    [{ enum: [1, 2] }, 3, "enum", "one of 1 or 2", "the number 3"],
    [{ minimum: 3 }, 2, "minimum", "a number of at least 3", "the number 2"],
    [{ maximum: 3 }, 4, "maximum", "a number of at most 3", "the number 4"],
    [{ exclusiveMinimum: 3 }, 3, "exclusiveMinimum", "a number above 3", "the number 3"],
    [{ exclusiveMaximum: 3 }, 3, "exclusiveMaximum", "a number below 3", "the number 3"],
    [{ multipleOf: 0.1 }, 0.25, "multipleOf", "a multiple of 0.1", "the number 0.25"],
    [{ minLength: 1 }, "", "minLength", "a string of 1 or more characters", 'the string ""'],
    [{ maxLength: 2 }, "abc", "maxLength", "a string of 2 or fewer characters", 'the string "abc"'],
    [{ pattern: "^a" }, "b", "pattern", "a string that matches the pattern ^a", 'the string "b"'],
    [{ format: "date" }, "today", "format", "a string in the format date", 'the string "today"'],
    [{ minItems: 1 }, [], "minItems", "an array of 1 or more items", "an array of 0 items"],
    [
      { uniqueItems: true },
      [1, 1],
      "uniqueItems",
      "an array without equal items",
      "an array of 2 items, of which 0 and 1 are equal",
    ],
    [
      { contains: { type: "string" } },
      [1],
      "contains",
      "an array with at least 1 item that conforms to contains",
      "an array of 1 item, of which 0 conform",
    ],
    [
      { contains: { type: "string" }, minContains: 2, maxContains: 3 },
      ["a", 1],
      "contains",
      "an array with 2 to 3 items that conform to contains",
      "an array of 2 items, of which 1 conforms",
    ],
    [
      { contains: { type: "string" }, minContains: 0, maxContains: 1 },
      ["a", "b"],
      "contains",
      "an array with at most 1 item that conforms to contains",
      "an array of 2 items, of which 2 conform",
    ],
    [
      { contains: true, minContains: 2, maxContains: 2 },
      [1],
      "contains",
      "an array with exactly 2 items that conform to contains",
      "an array of 1 item, of which 1 conforms",
    ],
    [{ prefixItems: [true], items: false }, [1, 2, 3], "items", "an array of at most 1 item", "an array of 3 items"],
    [{ items: false }, [1], "items", "an array of at most 0 items", "an array of 1 item"],
    [{ minProperties: 2 }, {}, "minProperties", "an object of 2 or more properties", "an object"],
    [{ not: {} }, 1, "not", "a value that does not conform to the schema under not", "the number 1"],
    [{ required: ["a"] }, {}, "required", 'the property "a"', "an object"],
    [{ dependentRequired: { a: ["b"] } }, { a: 1 }, "dependentRequired", 'the property "b"', "an object"],
    [false, 1, "false", "nothing: the schema refuses every value", "the number 1"],
  ])("%j refuses %j", (schema, value, keyword, expected, received) => {
    const error = one(schema, value);
    expect(error).toMatchObject({ instancePath: "", keyword, expected, received });
    expect(error.message).toBe(`The value: expected ${expected}, got ${received}.`);
  });
});

describe("paths are JSON Pointers", () => {
  it("leads through members, indexes and escapes", () => {
    const schema = { properties: { "a/b": { items: { properties: { "~": { type: "string" } } } } } };
    expect(one(schema, { "a/b": [{}, { "~": 1 }] })).toMatchObject({
      instancePath: "/a~1b/1/~0",
      schemaPath: "/properties/a~1b/items/properties/~0/type",
      schemaLocation: "#/properties/a~1b/items/properties/~0/type",
    });
  });

  it("names the walk and the place separately where a reference lies between", () => {
    const schema = { $ref: "#/$defs/n", $defs: { n: { anyOf: [{ $ref: "other.json#/x" }] } } };
    const resources = new Map([["https://example.com/other.json", { x: { minimum: 3 } }]]);
    const [, second] = errors({ $id: "https://example.com/a.json", ...schema }, 1, { resources });
    expect(second).toMatchObject({
      schemaPath: "/$ref/anyOf/0/$ref/minimum",
      schemaLocation: "https://example.com/other.json#/x/minimum",
    });
  });
});

describe("a keyword that looks at its siblings fails only by itself", () => {
  const text = { type: "string" };
  it.each([
    [{ properties: { city: text }, additionalProperties: false }, { city: 1 }, "/properties/city/type"],
    [{ patternProperties: { "^c": text }, additionalProperties: false }, { city: 1 }, "/patternProperties/^c/type"],
    [{ properties: { city: true }, additionalProperties: text }, { city: 1, a: 1 }, "/additionalProperties/type"],
    [{ prefixItems: [text], items: false }, [1], "/prefixItems/0/type"],
    [{ prefixItems: [text], items: text }, ["a", 1], "/items/type"],
    [{ if: text, then: { minLength: 2 }, else: { minimum: 1 } }, 0, "/else/minimum"],
    [{ contains: text, minContains: 2 }, ["a"], "/contains"],
  ])("%j refuses %j once", (schema, value, schemaPath) => {
    expect(one(schema, value)).toMatchObject({ schemaPath });
  });
});

describe("hints", () => {
  const object = { properties: { name: {}, mode: {} }, additionalProperties: false };
  it.each([
    [object, { nmae: 1 }, 'Did you mean "name"?'],
    [object, { zzzzz: 1 }, 'Leave it out; known properties are "name" and "mode".'],
    [{ ...object, required: ["name"], additionalProperties: true }, { nmae: 1 }, 'Rename "nmae" to "name".'],
    [{ required: ["name"] }, {}, 'Add "name".'],
    [{ enum: ["read", "write"] }, "raed", 'Did you mean "read"?'],
    [{ enum: ["read", "write"] }, 5, 'Use "read" or "write".'],
    [{ type: "integer" }, "5", "Write 5 without quotation marks."],
    [{ type: "object" }, '{"a":1}', "Pass the value itself, not JSON text in a string."],
    [{ format: "date-time" }, "now", "For example 2026-01-31T09:30:00Z."],
    [{ properties: { name: {} }, unevaluatedProperties: false }, { nam: 1 }, 'Did you mean "name"?'],
  ])("%j refuses %j", (schema, value, hint) => {
    expect(one(schema, value).hint).toBe(hint);
  });
});

describe("typical mistakes of a model are repaired in one step", () => {
  const tool = {
    type: "object",
    properties: {
      city: { type: "string", minLength: 1 },
      unit: { enum: ["celsius", "fahrenheit"] },
      days: { type: "integer" },
      hourly: { type: "boolean" },
      tags: { type: "array", items: { type: "string" } },
      where: {
        type: "object",
        properties: { lat: { type: "number" }, lon: { type: "number" } },
        required: ["lat", "lon"],
      },
      day: { type: "string", format: "date" },
      currency: { type: "string", pattern: "^[A-Z]{3}$" },
      place: { type: "string", pattern: "^[a-z_]+$" },
      limit: { anyOf: [{ type: "integer" }, { type: "null" }] },
      wind: { enum: ["m/s", "knots"], default: "m/s" },
      layers: { type: "array", default: [] },
    },
    required: ["city"],
    additionalProperties: false,
  };
  const city = "Oslo";

  it.each([
    ["arguments as text", '{"city":"Oslo"}', "", "Pass the value itself, not JSON text in a string."],
    ["arguments in an array", [{ city }], "", "Pass the only value in it, without the array or object around it."],
    ["no arguments", null, "", 'It must have "city".'],
    ["a missing property", {}, "", 'Add "city": a string.'],
    ["another case", { City: city }, "", 'Rename "City" to "city".'],
    ["a misspelling", { city, unti: "celsius" }, "", 'Did you mean "unit"?'],
    ["a misspelling of what has a default", { city, wnid: "knots" }, "", 'Did you mean "wind"?'],
    ["a misspelling of a list that is empty by default", { city, layer: ["rain"] }, "", 'Did you mean "layers"?'],
    ["one level too many", { input: { city } }, "", 'Move it out of "input".'],
    ["one level too few", { city, lat: 1, lon: 2 }, "", 'Move it into "where".'],
    ["null for a property that may be missing", { city, unit: null }, "/unit", "Leave it out."],
    ["null for a property that may not", { city: null }, "/city", undefined],
    ["an enum in another case", { city, unit: "Celsius" }, "/unit", 'Did you mean "celsius"?'],
    ["an enum with blanks around it", { city, unit: " celsius " }, "/unit", 'Did you mean "celsius"?'],
    ["an abbreviated enum", { city, unit: "C" }, "/unit", 'Use "celsius" or "fahrenheit".'],
    ["a number as a string", { city, days: "3" }, "/days", "Write 3 without quotation marks."],
    ["a string as a number", { city: 5 }, "/city", 'Did you mean "5"?'],
    ["a boolean as a string", { city, hourly: "True" }, "/hourly", "Write true without quotation marks."],
    ["an item without its array", { city, tags: "sea" }, "/tags", "Put it into an array."],
    ["an array as text", { city, tags: '["sea"]' }, "/tags", "Pass the value itself, not JSON text in a string."],
    ["a wrong item", { city, tags: ["sea", 1] }, "/tags/1", 'Did you mean "1"?'],
    [
      "an object around a value",
      { city: { name: city } },
      "/city",
      "Pass the only value in it, without the array or object around it.",
    ],
    ["an array for an object", { city, where: [1, 2] }, "/where", 'It must have "lat" and "lon".'],
    ["a date in words", { city, day: "tomorrow" }, "/day", "For example 2026-01-31."],
    ["hyphens for underscores", { city, place: "Old-Town" }, "/place", 'Did you mean "old_town"?'],
    ["a pattern in another case", { city, currency: "usd" }, "/currency", 'Did you mean "USD"?'],
    ["a string where branches want a number", { city, limit: "5" }, "/limit", "Write 5 without quotation marks."],
  ])("%s", (_name, value, instancePath, hint) => {
    expect(errors(tool, value)[0]).toMatchObject({ instancePath });
    expect(errors(tool, value)[0]?.hint).toBe(hint);
  });

  it("says into what a flat property belongs, and how to add a nested one", () => {
    const schema = { properties: { at: { properties: { x: {}, y: {} } } }, required: ["at"] };
    expect(one(schema, { x: 1, y: 2 }).hint).toBe('Add "at", and move "x" and "y" into it.');
  });

  it("says what an addition looks like", () => {
    expect(one({ properties: { v: { const: 2 } }, required: ["v"] }, {}).hint).toBe('Add "v": 2.');
    expect(one({ properties: { v: { enum: [1, 2] } }, required: ["v"] }, {}).hint).toBe('Add "v": one of 1 or 2.');
  });

  it("does not propose names that are taken", () => {
    const schema = { properties: { name: {} }, additionalProperties: false };
    expect(one(schema, { name: 1, nam: 2 }).hint).toBe('Leave it out; known properties are "name".');
    const filled = { properties: { name: { default: 0 } }, additionalProperties: false };
    expect(one(filled, { name: 1, nam: 2 }).hint).toBe('Leave it out; known properties are "name".');
  });
});
