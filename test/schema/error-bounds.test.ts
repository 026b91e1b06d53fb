import { describe, expect, it } from "vitest";
import { compileSchema } from "@keyhole/kernel/schema";
import { errors } from "./compiled.ts";

describe("secrets are never quoted", () => {
  it.each([
    ["writeOnly", { properties: { key: { writeOnly: true, minLength: 99 } } }],
    ["password", { properties: { key: { format: "password", minLength: 99 } } }],
    [
      "a mark in another branch",
      { allOf: [{ properties: { key: { minLength: 99 } } }, { properties: { key: { writeOnly: true } } }] },
    ],
    [
      "a mark behind a reference",
      { properties: { key: { $ref: "#/$defs/secret", minLength: 99 } }, $defs: { secret: { writeOnly: true } } },
    ],
    ["an enum", { properties: { key: { writeOnly: true, enum: ["hunter1"] } } }],
    ["a parent", { writeOnly: true, properties: { key: { minLength: 99 } } }],
    ["a misspelt name", { properties: { kye: { writeOnly: true } }, additionalProperties: false }],
    ["a pattern of names", { patternProperties: { "^k": { writeOnly: true, type: "integer" } } }],
  ])("%s", (_name, schema) => {
    expect(JSON.stringify(errors(schema, { key: "hunter2" }))).not.toContain("hunter2");
  });
});

it("keywords, formats and members may be called like members of Object.prototype", () => {
  const names = ["constructor", "toString", "__proto__", "hasOwnProperty"];
  for (const name of names) {
    const schema = JSON.parse(
      `{"${name}":{},"type":"integer","format":"${name}","properties":{"${name}":{"type":"string"}},"required":["${name}"]}`,
    ) as unknown;
    expect(errors(schema, {}).map(({ keyword }) => keyword)).toEqual(["type", "required"]);
    expect(errors({ required: [name] }, {})).toMatchObject([{ keyword: "required" }]);
    expect(errors({ enum: [name] }, "x")).toMatchObject([{ keyword: "enum" }]);
  }
});

describe("errors are bounded", () => {
  it("in number", () => {
    const schema = { items: { type: "string" } };
    expect(
      errors(
        schema,
        Array.from({ length: 100 }, (_, n) => n),
      ),
    ).toHaveLength(32);
    expect(errors(schema, [1, 2, 3], { limits: { errors: 2 } })).toHaveLength(2);
  });

  it("and equal ones are one, with a count", () => {
    const schema = { items: { required: ["id"], properties: { id: { type: "string" } } } };
    const rows = Array.from({ length: 40 }, () => ({}));
    expect(errors(schema, rows)).toEqual([
      expect.objectContaining({
        instancePath: "/0",
        count: 40,
        message: '/0: expected the property "id", got an object. 39 more places have the same error.',
      }),
    ]);
    expect(errors(schema, [{}, { id: null }, {}])).toMatchObject([
      { instancePath: "/0", count: 2, message: expect.stringMatching(/ 1 more place has the same error\.$/) },
      { instancePath: "/1/id", expected: "a string" },
    ]);
    expect(errors(schema, [{}])[0]).not.toHaveProperty("count");
  });

  it("in size", () => {
    const [error] = errors({ type: "integer" }, "x".repeat(1_000_000));
    expect(error?.message.length).toBeLessThan(200);
    const [unknown] = errors({ additionalProperties: false, properties: { a: {} } }, { ["k".repeat(100_000)]: 1 });
    expect(unknown?.expected.length).toBeLessThan(200);
  });
});

it("without explain there is one error that only says that the value does not conform", () => {
  const result = compileSchema({ properties: { a: { type: "string" } } });
  expect(result.ok && result.validator.validate({ a: 1 })).toEqual({
    ok: false,
    errors: [
      {
        instancePath: "",
        schemaPath: "",
        schemaLocation: "#",
        keyword: "schema",
        expected: "a value that conforms to the schema",
        received: "a value that does not conform",
        message: "The value: expected a value that conforms to the schema, got a value that does not conform.",
      },
    ],
  });
});
