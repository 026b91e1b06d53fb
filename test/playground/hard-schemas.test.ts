import type { JsonObject, JsonValue } from "@keyhole/kernel";
import { compileSchema } from "@keyhole/kernel/schema";
import { describe, expect, it } from "vitest";
import { person } from "./person.ts";

const text = { type: "string" };
const object = (properties: Readonly<Record<string, JsonValue>>, more: JsonObject = {}): JsonObject => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
});
const members = (count: number): Record<string, JsonValue> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`field${at}`, text]));

/** At least one for each fault that a form of schemas had, and what tools of others bring. */
const schemas: readonly (readonly [string, JsonObject])[] = [
  ["no input", { type: "object", properties: {} }],
  ["nothing said", { type: "object" }],
  [
    "names by a pattern alone",
    { type: "object", patternProperties: { "^x-[a-z]{2}$": text }, additionalProperties: false, minProperties: 2 },
  ],
  [
    "names of one's own beside those named",
    object({ a: text }, { additionalProperties: { type: "number" }, minProperties: 3 }),
  ],
  ["an anchor", { $defs: { name: { $anchor: "name", ...text } }, ...object({ a: { $ref: "#name" } }) }],
  [
    "an anchor that refers to itself",
    {
      $defs: {
        node: {
          $anchor: "node",
          type: "object",
          properties: { next: { $ref: "#node" }, name: text },
          required: ["name"],
        },
      },
      $ref: "#node",
    },
  ],
  ["one of several forms at the root", { type: "object", oneOf: [object({ a: text }), object({ b: text })] }],
  [
    "any of what must be there, at the root",
    {
      type: "object",
      properties: { a: text, b: text },
      required: ["a"],
      anyOf: [{ required: ["a"] }, { required: ["b"] }],
    },
  ],
  [
    "forms that a constant tells apart",
    object({
      shape: {
        oneOf: [
          object({ kind: { const: "circle" }, radius: { type: "number", minimum: 0 } }),
          object({ kind: { const: "square" }, side: { type: "number" } }),
        ],
      },
    }),
  ],
  [
    "titles of constants",
    object({
      level: {
        oneOf: [
          { const: 1, title: "Low" },
          { const: 2, title: "High" },
        ],
      },
    }),
  ],
  [
    "dates and times",
    object({
      on: { ...text, format: "date" },
      at: { ...text, format: "time" },
      then: { ...text, format: "date-time" },
    }),
  ],
  ["a colour", object({ colour: { ...text, pattern: "^#[0-9a-fA-F]{6}$" } })],
  [
    "addresses",
    object({
      to: { ...text, format: "email" },
      link: { ...text, format: "uri" },
      host: { ...text, format: "hostname" },
    }),
  ],
  [
    "a set of choices",
    object({ tags: { type: "array", uniqueItems: true, minItems: 2, items: { enum: ["a", "b", "c"] } } }),
  ],
  [
    "a list of objects",
    object({
      rows: { type: "array", minItems: 2, items: object({ name: text, size: { type: "integer", minimum: 3 } }) },
    }),
  ],
  [
    "a list of lists",
    object({ grid: { type: "array", minItems: 1, items: { type: "array", minItems: 2, items: { type: "number" } } } }),
  ],
  ["required fields among 119 others", { ...object(members(120)), required: ["field7", "field119"] }],
  ["a choice of 500", object({ country: { enum: Array.from({ length: 500 }, (_, at) => `country ${at}`) } })],
  ["a choice of things that are no texts", object({ value: { enum: [null, 1, true, { a: [1] }] } })],
  ["one value", object({ version: { const: 2 } })],
  ["several types", object({ id: { type: ["integer", "string"] } })],
  ["a nullable text", object({ note: { anyOf: [{ type: "null" }, text] } })],
  ["a text by a pattern", object({ key: { ...text, pattern: "^[A-Z]{2,4}-[0-9]{3}$" } })],
  [
    "numbers by steps",
    object({
      size: { type: "number", minimum: 0.5, multipleOf: 0.25 },
      count: { type: "integer", exclusiveMinimum: 4, maximum: 9 },
    }),
  ],
  ["long texts", object({ body: { ...text, minLength: 2_000, maxLength: 100_000 } })],
  ["a boolean that must be", object({ force: { type: "boolean" } })],
  [
    "objects eight deep",
    Array.from({ length: 8 }).reduce<JsonObject>((inner) => object({ inner }), object({ leaf: text })),
  ],
  [
    "parts put together",
    object(
      { a: { allOf: [{ $ref: "#/$defs/base" }, { required: ["name"] }] } },
      { $defs: { base: object({ name: text }) } },
    ),
  ],
  [
    "defaults",
    object({ limit: { type: "integer", minimum: 10, default: 20 }, mode: { enum: ["r", "w"], default: "w" } }),
  ],
  ["names that JavaScript knows", object({ constructor: text, toString: text, ["__proto__x"]: text })],
  ["no type, only members", { properties: { a: { properties: { b: text }, required: ["b"] } }, required: ["a"] }],
  ["an identifier", object({ id: { ...text, format: "uuid" }, address: { ...text, format: "ipv6" } })],
];

describe("a hard schema", () => {
  it.each(schemas)("gives a valid input by its form alone: %s", (_, schema) => {
    const compiled = compileSchema(schema);
    expect(compiled.ok).toBe(true);
    const somebody = person();
    const input = somebody.fill(schema);
    expect(somebody.json).toEqual([]);
    expect(compiled.ok && compiled.validator.validate(input)).toMatchObject({ ok: true });
  });
});
