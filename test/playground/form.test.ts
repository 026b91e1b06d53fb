import type { JsonObject, JsonValue } from "@keyhole/kernel";
import { compileSchema } from "@keyhole/kernel/schema";
import { explain } from "@keyhole/kernel/schema/explain";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { errorsWithin, placeErrors } from "../../packages/playground/src/form/errors.ts";
import { resolve } from "../../packages/playground/src/form/resolve.ts";
import { examplesOf, shapeOf } from "../../packages/playground/src/form/schema.ts";
import {
  filledWith,
  fromEntries,
  initialValue,
  memberOf,
  pointerTo,
  withMember,
} from "../../packages/playground/src/form/value.ts";

const shape = (schema: JsonObject, root: JsonObject = schema) => shapeOf(resolve(schema, root), root, 0);

describe("the shape of a schema", () => {
  it.for<[string, JsonObject, string]>([
    ["a string", { type: "string" }, "text"],
    ["an integer", { type: "integer" }, "number"],
    ["a boolean", { type: "boolean" }, "boolean"],
    ["an enum", { enum: ["a", 1, null] }, "choice"],
    ["a constant", { const: 3 }, "choice"],
    ["oneOf constants", { oneOf: [{ const: "a" }, { const: "b" }] }, "choice"],
    ["oneOf forms", { oneOf: [{ type: "string" }, { type: "object" }] }, "variants"],
    ["several types", { type: ["string", "null"] }, "variants"],
    ["null", { type: "null" }, "null"],
    ["a list", { type: "array", items: { type: "string" } }, "list"],
    ["a tuple", { type: "array", prefixItems: [{ type: "string" }] }, "json"],
    ["properties without a type", { properties: { a: {} } }, "object"],
    ["anything", {}, "json"],
    ["nothing that a schema is", { type: 7 }, "json"],
  ])("%s", ([, schema, kind]) => {
    expect(shape(schema).kind).toBe(kind);
  });

  it.for<[string, JsonObject[], string[]]>([
    [
      "their titles",
      [
        { title: "Text", type: "string" },
        { title: "Bytes", type: "object" },
      ],
      ["Text", "Bytes"],
    ],
    [
      "their types, each by itself",
      [{ type: ["null", "string"] }, { properties: { a: {} } }],
      ["null", "string", "object"],
    ],
    ["their title also for several types", [{ type: ["null", "string"], title: "Name" }], ["Name"]],
    [
      "what they need, where types are not enough",
      [
        { type: "object", properties: { url: {} }, required: ["url"] },
        { type: "object", properties: { path: {}, base: {} } },
        { type: "object" },
      ],
      ["object with url", "object with path, base", "object"],
    ],
    ["their constants, and their place where nothing else is known", [{ const: "auto" }, {}], ['"auto"', "Option 2"]],
  ])("names variants by %s", ([, anyOf, labels]) => {
    const found = shape({ anyOf });
    expect(found.kind === "variants" && found.variants.map(({ label }) => label)).toEqual(labels);
  });

  it("follows local references and folds allOf in", () => {
    const root: JsonObject = {
      $defs: { "a/b": { type: "string", title: "below" } },
      $ref: "#/$defs/a~1b",
      title: "above",
    };
    expect(resolve(root, root)).toMatchObject({ type: "string", title: "above" });
    const both = {
      allOf: [
        { properties: { a: {} }, required: ["a"] },
        { properties: { b: {} }, required: ["b"] },
      ],
    };
    expect(resolve(both, both)).toMatchObject({ properties: { a: {}, b: {} }, required: ["b", "a"] });
  });

  it("ends at a schema that refers to itself", () => {
    const root: JsonObject = { $ref: "#" };
    expect(resolve(root, root)).toEqual({});
    const tree: JsonObject = { type: "object", properties: { child: { $ref: "#" } }, required: ["child"] };
    expect(() => initialValue(tree, tree, true)).not.toThrow();
  });

  it("reaches nothing outside of the document", () => {
    for (const $ref of ["#/__proto__/polluted", "#/constructor", "https://example.com/", "#/missing/part"]) {
      expect(resolve({ $ref }, { $ref })).toEqual({});
    }
  });
});

describe("the value of a form", () => {
  it("starts with defaults and required objects, and leaves out what is optional", () => {
    const schema: JsonObject = {
      type: "object",
      properties: {
        method: { enum: ["GET"], default: "GET" },
        url: { type: "string" },
        inner: { type: "object", properties: { on: { type: "boolean" } }, required: ["on"] },
      },
      required: ["url", "inner"],
    };
    expect(initialValue(schema, schema, true)).toEqual({ method: "GET", inner: { on: false } });
  });

  it("keeps names such as __proto__ as names", () => {
    const value = withMember({}, "__proto__", 1);
    expect(Object.hasOwn(value, "__proto__")).toBe(true);
    expect(memberOf(value, "__proto__")).toBe(1);
    expect(memberOf({}, "constructor")).toBeUndefined();
  });

  it("sets and leaves out members, and keeps their order", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), (given, name) => {
        const value = fromEntries(Object.entries(given) as [string, JsonValue][]);
        const set = withMember(value, name, 7);
        expect(memberOf(set, name)).toBe(7);
        expect(memberOf(withMember(set, name, undefined), name)).toBeUndefined();
        const others = Object.keys(value).filter((key) => key !== name);
        expect(Object.keys(set).filter((key) => key !== name)).toEqual(others);
      }),
    );
  });
});

describe("examples of the input", () => {
  const schema: JsonObject = {
    type: "object",
    properties: { method: { enum: ["GET", "PUT"], default: "GET" }, url: { type: "string" } },
    examples: [{ url: "a:b" }, { url: "c:d", method: "PUT" }],
  };

  it("keep what a new form starts with, where they say nothing of it", () => {
    expect(examplesOf(schema).map((each) => filledWith(each, schema))).toEqual([
      { method: "GET", url: "a:b" },
      { method: "PUT", url: "c:d" },
    ]);
  });

  it.each([undefined, null, "one", {}, [], ["one", 1, null, [{}]]])(
    "are objects in a list, and nothing else: %j",
    (examples) => {
      expect(examplesOf(examples === undefined ? {} : { examples })).toEqual([]);
    },
  );

  it("keep names such as __proto__ as names", () => {
    const [example] = examplesOf({ examples: [JSON.parse('{ "__proto__": 1 }') as JsonObject] });
    expect(Object.hasOwn(filledWith(example!, schema), "__proto__")).toBe(true);
  });
});

describe("an error", () => {
  const schema: JsonObject = {
    type: "object",
    properties: {
      "a/b": { type: "string", minLength: 3 },
      list: { type: "array", items: { type: "object", required: ["x"] } },
    },
    required: ["a/b", "list"],
  };
  const errorsOf = (value: JsonObject) => {
    const compiled = compileSchema(schema, { explain });
    const result = compiled.ok ? compiled.validator.validate(value) : undefined;
    return result === undefined || result.ok ? [] : placeErrors(result.errors, value);
  };

  it("stands at the field that is missing, not at its object", () => {
    expect(errorsOf({}).map(({ path }) => path)).toEqual(["/a~1b", "/list"]);
    expect(errorsOf({ "a/b": "long enough", list: [{}] })).toMatchObject([
      { path: "/list/0/x", message: "This field is required." },
    ]);
  });

  it("says what was expected and what came", () => {
    expect(errorsOf({ "a/b": "x", list: [] })).toMatchObject([
      { path: pointerTo("", "a/b"), message: expect.stringMatching(/^Expected a string .*, got the string "x"\.$/) },
    ]);
  });

  it("belongs to what is around it, and to no neighbour", () => {
    const errors = [{ path: "/list/1", message: "", hint: "" }];
    expect(errorsWithin(errors, "/list")).toEqual(errors);
    expect(errorsWithin(errors, "/list/1")).toEqual(errors);
    expect(errorsWithin(errors, "/li")).toEqual([]);
    expect(errorsWithin(errors, "/list/10")).toEqual([]);
  });
});
