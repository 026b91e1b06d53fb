import { describe, expect, it } from "vitest";
import { errors, one } from "./compiled.ts";

describe("branches", () => {
  const tagged = {
    oneOf: [
      { type: "object", properties: { kind: { const: "circle" }, r: { type: "number" } }, required: ["kind", "r"] },
      {
        type: "object",
        properties: { kind: { const: "square" }, side: { type: "number" } },
        required: ["kind", "side"],
      },
    ],
  };

  it("follows the discriminator", () => {
    expect(one(tagged, { kind: "square", side: "x" })).toMatchObject({
      instancePath: "/side",
      schemaPath: "/oneOf/1/properties/side/type",
    });
  });

  it("lists the values of the discriminator", () => {
    expect(one(tagged, { kind: "cirle" })).toMatchObject({
      instancePath: "/kind",
      expected: '"kind" to be one of "circle" or "square"',
      hint: 'Did you mean "circle"?',
    });
    expect(one(tagged, {})).toMatchObject({ instancePath: "", hint: 'Set "kind" to "circle" or "square".' });
  });

  it("names the types where they are all that differs", () => {
    expect(one({ anyOf: [{ type: "string" }, { type: "null" }] }, 5)).toMatchObject({ expected: "a string or null" });
  });

  it("explains the closest branch", () => {
    const schema = {
      anyOf: [{ type: "string" }, { title: "Pair", type: "array", items: { type: "number" }, maxItems: 2 }],
    };
    const [first, ...rest] = errors(schema, [1, "x"]);
    expect(first).toMatchObject({ keyword: "anyOf", hint: 'Closest is branch 1 ("Pair"); its errors follow.' });
    expect(rest).toMatchObject([{ instancePath: "/1", schemaPath: "/anyOf/1/items/type" }]);
  });

  it.each([
    [false],
    [{ not: {} }],
    [{ enum: [] }],
    [{ $ref: "#/$defs/never" }],
    [{ allOf: [true, false] }],
    [{ anyOf: [false, { not: true }] }],
    [{ type: "object", $ref: "#/$defs/never" }],
  ])("does not take %j for the closest branch", (never) => {
    const schema = {
      $defs: { never: false },
      anyOf: [never, { properties: { a: { type: "string" }, b: { type: "string" } }, required: ["c"] }],
    };
    const [first, ...rest] = errors(schema, { a: 1, b: 1 });
    expect(first?.hint).toBe("Closest is branch 1; its errors follow.");
    expect(rest.map(({ instancePath }) => instancePath)).toEqual(["/a", "/b", ""]);
  });

  it("explains the branch whose required properties are there", () => {
    const schema = {
      $ref: "#/$defs/filter",
      $defs: {
        filter: {
          anyOf: [
            {
              type: "object",
              properties: { op: { const: "eq" }, field: { type: "string" } },
              required: ["op", "field"],
            },
            {
              type: "object",
              properties: { and: { type: "array", items: { $ref: "#/$defs/filter" } } },
              required: ["and"],
            },
            {
              type: "object",
              properties: { or: { type: "array", items: { $ref: "#/$defs/filter" } } },
              required: ["or"],
            },
          ],
        },
      },
    };
    const found = errors(schema, { and: [{ op: "like" }] });
    expect(found[0]?.hint).toBe("Closest is branch 1; its errors follow.");
    expect(found.slice(1).every(({ instancePath }) => instancePath.startsWith("/and/0"))).toBe(true);
    // The other branch has one error less.
    const long = { properties: { list: { items: { type: "string" } } }, required: ["list"] };
    const [first] = errors({ anyOf: [{ required: ["x"] }, long] }, { list: [1, true] });
    expect(first?.hint).toBe("Closest is branch 1; its errors follow.");
  });

  it("says so when no branch can match", () => {
    expect(errors({ oneOf: [false, { not: {} }] }, 1).length).toBeGreaterThan(0);
  });

  it("says when more than one branch fits", () => {
    expect(one({ oneOf: [{ type: "number" }, { minimum: 0 }] }, 5).hint).toBe(
      "It conforms to branches 0 and 1; make it fit only one.",
    );
  });
});
