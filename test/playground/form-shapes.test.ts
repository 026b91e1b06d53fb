import type { JsonObject } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { Faults } from "../../packages/playground/src/form/faults.ts";
import { inputTypeOf, readTyped, writeTyped } from "../../packages/playground/src/form/formats.ts";
import { resolve } from "../../packages/playground/src/form/resolve.ts";
import { type Extra, schemaOfExtra, shapeOf } from "../../packages/playground/src/form/schema.ts";
import { hasTooManyFields, initialValue } from "../../packages/playground/src/form/value.ts";

const shape = (schema: JsonObject, root: JsonObject = schema) => shapeOf(resolve(schema, root), root, 0);
const text = { type: "string" };

describe("the members of an object", () => {
  it("come with those that must be there first", () => {
    const schema = { properties: { a: {}, b: {}, c: {}, d: {} }, required: ["d", "b"] };
    expect(shape(schema)).toMatchObject({ members: [{ name: "b" }, { name: "d" }, { name: "a" }, { name: "c" }] });
  });

  it.for<[string, JsonObject, Extra | undefined]>([
    ["none, where no property is named", { properties: {} }, undefined],
    ["none, where the author named some", { properties: { a: {} } }, undefined],
    ["any, for an object of which nothing is said", {}, { patterns: [], others: {} }],
    ["any of a schema", { additionalProperties: text }, { patterns: [], others: text }],
    ["any beside those named", { properties: { a: {} }, additionalProperties: text }, { patterns: [], others: text }],
    [
      "those that fit a pattern alone",
      { patternProperties: { "^x-": text }, additionalProperties: false },
      { patterns: [{ pattern: "^x-", schema: text }], others: undefined },
    ],
    [
      "those that fit a pattern, and any",
      { patternProperties: { "^x-": text }, additionalProperties: { type: "number" } },
      { patterns: [{ pattern: "^x-", schema: text }], others: { type: "number" } },
    ],
  ])("can be added by a person: %s", ([, schema, extra]) => {
    expect(shape({ type: "object", ...schema })).toMatchObject({ kind: "object", extra });
  });

  it("have the schema of the pattern that their name fits", () => {
    const extra = { patterns: [{ pattern: "^x-", schema: text }], others: { type: "number" } };
    expect(schemaOfExtra(extra, "x-a")).toEqual(text);
    expect(schemaOfExtra(extra, "a")).toEqual({ type: "number" });
    // An expression that takes other engines for ever.
    expect(
      schemaOfExtra({ patterns: [{ pattern: "^(a+)+$", schema: text }], others: {} }, `${"a".repeat(60)}!`),
    ).toEqual({});
  });

  it("that a person adds count as fields, too", () => {
    const root = { type: "object", properties: { a: text }, additionalProperties: text };
    const value = Object.fromEntries(Array.from({ length: 600 }, (_, at) => [`n${at}`, "x"]));
    expect(hasTooManyFields(root, value)).toBe(true);
  });
});

describe("a schema of several forms", () => {
  it("that only says which members belong together is one form", () => {
    const schema = {
      type: "object",
      properties: { a: text, b: text },
      anyOf: [{ required: ["a"] }, { required: ["b"] }],
    };
    expect(shape(schema)).toMatchObject({ kind: "object", members: [{ name: "a" }, { name: "b" }] });
  });

  it("at the root is a choice of forms, also beside required", () => {
    const schema = {
      required: ["kind"],
      oneOf: [
        { type: "object", properties: { kind: { const: "a" } } },
        { type: "object", properties: { kind: { const: "b" } } },
      ],
    };
    expect(shape(schema)).toMatchObject({ kind: "variants", variants: [{ label: "a" }, { label: "b" }] });
  });

  it("is told apart by the member that is a constant in each", () => {
    const form = (kind: string, other: string): JsonObject => ({
      type: "object",
      properties: { [other]: text, kind: { enum: [kind] } },
      required: ["kind"],
    });
    const schema = { oneOf: [form("circle", "radius"), form("square", "side")] };
    expect(shape(schema)).toMatchObject({ variants: [{ label: "circle" }, { label: "square" }] });
    expect(initialValue(schema, schema, true)).toEqual({ kind: "circle" });
  });

  it("of constants has their titles as options", () => {
    const schema = { oneOf: [{ const: "r", title: "Red" }, { const: "b" }] };
    const options = [
      { value: "r", text: "Red" },
      { value: "b", text: "b" },
    ];
    expect(shape(schema)).toEqual({ kind: "choice", options });
  });
});

describe("a reference", () => {
  it("to a name leads to the part of that name, once", () => {
    const root = {
      type: "object",
      properties: { at: { $ref: "#place" } },
      $defs: { p: { $anchor: "place", type: "object", properties: { x: { type: "number" } } } },
    };
    expect(shape({ $ref: "#place" }, root)).toMatchObject({ kind: "object", members: [{ name: "x" }] });
  });

  it.for(["#nobody", "#%", "#/$defs/nobody", "other.json"])("that leads nowhere is edited as JSON: %s", ($ref) => {
    expect(shape({ $ref }, {}).kind).toBe("json");
  });
});

describe("a list of a few values", () => {
  it("is boxes to tick where each comes at most once", () => {
    const items = { enum: ["a", "b"] };
    expect(shape({ type: "array", items, uniqueItems: true }).kind).toBe("set");
    expect(shape({ type: "array", items }).kind).toBe("list");
  });
});

describe("the input of a format", () => {
  it.for<[string, string, string, string]>([
    ["date", "2026-11-26", "date", "2026-11-26"],
    ["time", "10:20:30Z", "time", "10:20:30"],
    ["date-time", "2026-11-26T10:20:30Z", "datetime-local", "2026-11-26T10:20:30"],
    ["date-time", "2026-11-26T10:20:30+02:00", "text", "2026-11-26T10:20:30+02:00"],
    ["date", "tomorrow", "text", "tomorrow"],
    ["uri", "https://example.com", "url", "https://example.com"],
    ["nothing-known", "x", "text", "x"],
  ])("%s of %s", ([format, value, type, shown]) => {
    expect(inputTypeOf(format, value)).toBe(type);
    expect(writeTyped(inputTypeOf(format, value), value)).toBe(shown);
  });

  it("gives a time as one in UTC, with seconds", () => {
    expect(readTyped("datetime-local", "2026-11-26T10:20")).toBe("2026-11-26T10:20:00Z");
    expect(readTyped("time", "10:20:30")).toBe("10:20:30Z");
  });
});

describe("the faults of a form", () => {
  it("stay the same list for a field whose faults say the same", () => {
    const faults = new Faults();
    const fault = (path: string, message: string) => ({ path, message, hint: "" });
    faults.set([fault("/a", "one"), fault("/b", "two"), fault("/a", "one")]);
    const [a, b] = [faults.at("/a"), faults.at("/b")];
    expect(a).toHaveLength(1);
    faults.set([fault("/a", "one"), fault("/b", "three")]);
    expect(faults.at("/a")).toBe(a);
    expect(faults.at("/b")).not.toBe(b);
    expect(faults.at("/c")).toBe(faults.at("/d"));
  });
});
