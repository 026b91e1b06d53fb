import { describe, expect, it } from "vitest";
import { compileSchema } from "@keyhole/kernel/schema";
import { compiled, refused } from "./compiled.ts";

describe("drafts", () => {
  it("takes the draft from $schema, else from the options, else 2020-12", () => {
    const tuple = { items: [{ type: "string" }] };
    expect(refused(tuple)).toMatchObject({ code: "KEYWORD_INVALID", schemaPath: "/items" });
    expect(compiled(tuple, { draft: "draft-07" }).check([1])).toBe(false);
    expect(compiled({ ...tuple, $schema: "http://json-schema.org/draft-07/schema#" }).check([1])).toBe(false);
    const modern = { prefixItems: [{ type: "string" }] };
    expect(
      compiled({ ...modern, $schema: "https://json-schema.org/draft/2020-12/schema" }, { draft: "draft-07" }).check([
        1,
      ]),
    ).toBe(false);
    expect(compiled(modern, { draft: "draft-07" }).check([1])).toBe(true);
  });

  it("ignores what is beside $ref in draft 7 only", () => {
    const schema = { $ref: "#/definitions/a", maximum: 1, definitions: { a: { type: "integer" } } };
    expect(compiled(schema, { draft: "draft-07" }).check(5)).toBe(true);
    expect(compiled(schema).check(5)).toBe(false);
  });

  it("refuses dialects that nobody knows", () => {
    expect(refused({ $schema: "https://example.com/mine" })).toMatchObject({
      code: "DIALECT_UNKNOWN",
      schemaPath: "/$schema",
    });
    const resources = new Map([
      ["https://example.com/mine", { $schema: "https://json-schema.org/draft/2020-12/schema" }],
    ]);
    expect(compiled({ $schema: "https://example.com/mine", type: "string" }, { resources }).check(1)).toBe(false);
  });
});

it("a name of no dialect has its own code", () => {
  for (const $schema of ["", "http://json-schema.org/schema#", "https://example.com/mine"])
    expect(refused({ $schema })).toMatchObject({ code: "DIALECT_UNKNOWN", schemaPath: "/$schema" });
});

it("an empty enum, which 2020-12 allows, fits no value", () => {
  const { check } = compiled({ properties: { a: { enum: [] } } });
  expect([check({}), check({ a: 1 })]).toEqual([true, false]);
});

describe("malformed schemas are refused with their place", () => {
  it.each([
    [{ type: "text" }, "/type"],
    [{ type: [] }, "/type"],
    [{ $schema: "http://json-schema.org/draft-07/schema#", enum: [] }, "/enum"],
    [{ properties: [] }, "/properties"],
    [{ properties: { a: 5 } }, "/properties/a"],
    [{ required: [1] }, "/required"],
    [{ required: "a" }, "/required"],
    [{ minLength: -1 }, "/minLength"],
    [{ minLength: 1.5 }, "/minLength"],
    [{ maximum: "1" }, "/maximum"],
    [{ multipleOf: 0 }, "/multipleOf"],
    [{ enum: "a" }, "/enum"],
    [{ pattern: 5 }, "/pattern"],
    [{ allOf: [] }, "/allOf"],
    [{ anyOf: {} }, "/anyOf"],
    [{ $ref: 5 }, "/$ref"],
    [{ items: { not: { minItems: "x" } } }, "/items/not/minItems"],
    [{ dependentRequired: { a: "b" } }, "/dependentRequired/a"],
    [5, ""],
    [null, ""],
    [[], ""],
  ])("%j", (schema, schemaPath) => {
    expect(refused(schema)).toMatchObject({ code: "KEYWORD_INVALID", schemaPath });
  });

  it.each([
    { $ref: "#/nope" },
    { $ref: "#nope" },
    { $ref: "https://example.com/other" },
    { $ref: "#/__proto__" },
    { $ref: "#/constructor" },
  ])("%j leads nowhere", (schema) => {
    expect(refused(schema)).toMatchObject({ code: "REF_UNRESOLVED", schemaPath: "/$ref" });
  });
});

describe("resources", () => {
  it("resolves documents, their anchors, and documents embedded in them; fetches nothing", () => {
    const resources = new Map<string, unknown>([
      [
        "https://example.com/defs.json",
        { $defs: { id: { $anchor: "id", type: "integer" }, inner: { $id: "inner.json", type: "string" } } },
      ],
    ]);
    const schema = {
      $id: "https://example.com/root.json",
      properties: { a: { $ref: "defs.json#id" }, b: { $ref: "inner.json" } },
    };
    const { check } = compiled(schema, { resources });
    expect(check({ a: 1, b: "x" })).toBe(true);
    expect(check({ a: "x" })).toBe(false);
    expect(check({ b: 1 })).toBe(false);
  });
});

describe("defaults", () => {
  const schema = {
    properties: {
      n: { type: "integer", default: 3 },
      deep: { type: "object", default: {}, properties: { list: { default: [1] } } },
      rows: { items: { properties: { ok: { default: true } } } },
    },
    allOf: [{ properties: { late: { default: null } } }],
    anyOf: [{ properties: { never: { default: 1 } } }],
  };

  it("are filled in, in a copy, not in branches", () => {
    const input = { rows: [{}] };
    const result = compiled(schema).validate(input);
    expect(result).toEqual({ ok: true, value: { rows: [{ ok: true }], n: 3, deep: { list: [1] }, late: null } });
    expect(input).toEqual({ rows: [{}] });
  });

  it("are not shared between results", () => {
    const validator = compiled(schema);
    const first = validator.validate({});
    if (first.ok) (first.value as { deep: { list: number[] } }).deep.list.push(2);
    expect(validator.validate({})).toMatchObject({ value: { deep: { list: [1] } } });
  });

  it("that do not conform are never filled in", () => {
    const result = compileSchema({
      properties: {
        a: { type: "string", default: 5 },
        b: { $ref: "#/$defs/list", default: [1, "x"] },
        c: { type: "integer", default: 1 },
      },
      $defs: { list: { items: { type: "integer" } } },
    });
    if (!result.ok) throw new Error(result.error.message);
    expect(result.validator.check({})).toBe(true);
    expect(result.validator.validate({})).toEqual({ ok: true, value: { c: 1 } });
  });

  it("may conform once what is below them is filled in", () => {
    const deep = { type: "object", default: {}, required: ["x"], properties: { x: { type: "integer", default: 1 } } };
    const result = compileSchema({ properties: { deep } });
    expect(result.ok && result.validator.validate({})).toEqual({ ok: true, value: { deep: { x: 1 } } });
  });

  it("share one budget when they are checked: those beyond it are left out", () => {
    const properties = Object.fromEntries(
      Array.from({ length: 100 }, (_, at) => [`k${at}`, { items: { type: "integer" }, default: [1, 2, 3, 4, 5] }]),
    );
    const given = Object.fromEntries(Array.from({ length: 90 }, (_, at) => [`k${at}`, []]));
    const filled = (steps: number) => compiled({ properties }, { limits: { steps } }).validate(given);
    expect(filled(300)).toEqual({ ok: true, value: given });
    expect(filled(3_000)).toMatchObject({ ok: true, value: { k99: [1, 2, 3, 4, 5] } });
  });

  it("stay out when they are not wanted", () => {
    expect(compiled(schema, { defaults: "ignore" }).validate({})).toEqual({ ok: true, value: {} });
  });
});

describe("formats", () => {
  it("assert unless they are to annotate; unknown ones annotate", () => {
    expect(compiled({ format: "ipv4" }).check("x")).toBe(false);
    expect(compiled({ format: "ipv4" }, { formats: "annotate" }).check("x")).toBe(true);
    expect(compiled({ format: "color" }).check("x")).toBe(true);
    expect(compiled({ format: "ipv4" }).check(5)).toBe(true);
  });

  it("hold internationalised names to kinds of characters without the exact rules", () => {
    const { check } = compiled({ format: "idn-hostname" });
    for (const name of ["example.com", "実例.テスト", "bücher.example"])
      expect([name, check(name)]).toEqual([name, true]);
    for (const name of ["", "a..b", "-a", "a-", "a b", "a/b", "☃.net", "x".repeat(64)])
      expect([name, check(name)]).toEqual([name, false]);
  });
});

describe("numbers", () => {
  it.each([
    [0.3, 0.1, true],
    [0.35, 0.1, false],
    [19.99, 0.01, true],
    [1.1, 0.01, true],
    [4.02, 0.02, true],
    [1e308, 0.123456789, false],
    [1e21, 0.5, true],
    [1e-7, 1e-8, true],
    [12345678901234567890, 5, true],
    [5e-324, 5e-324, true],
    [1e300, 7, false],
    [0, 0.3, true],
    [-0.6, 0.2, true],
    [9007199254740993, 2, true],
  ])("%d of %d: %j", (value, divisor, multiple) => {
    expect(compiled({ multipleOf: divisor }).check(value)).toBe(multiple);
  });
});
