import { mcpJsonSchemaValidator } from "@keyhole/kernel/schema/mcp";
import { rjsfValidator } from "@keyhole/kernel/schema/rjsf";
import { standardSchema } from "@keyhole/kernel/schema/standard-schema";
import { compileSchema } from "@keyhole/kernel/schema";
import { describe, expect, it } from "vitest";

const person = {
  type: "object",
  properties: {
    name: { type: "string", minLength: 1 },
    tags: { type: "array", items: { type: "string" } },
    size: { type: "integer", default: 3 },
  },
  required: ["name"],
  additionalProperties: false,
} as const;

describe("a member that is undefined", () => {
  it.each([
    [{ name: "Ada", extra: undefined }, true],
    [{ name: undefined }, false],
    [{ name: "Ada", tags: undefined }, true],
    [{ name: "Ada", tags: [undefined] }, false],
  ])("is absent for check and validate alike: %o", (value, conforms) => {
    const compiled = compileSchema(person);
    if (!compiled.ok) throw new Error(compiled.error.message);
    expect(compiled.validator.validate(value).ok).toBe(conforms);
    expect(compiled.validator.check(value)).toBe(conforms);
  });

  it.each([
    { minProperties: 1 },
    { maxProperties: 0 },
    { propertyNames: { maxLength: 0 } },
    { patternProperties: { a: false } },
    { dependentRequired: { a: ["b"] } },
    { dependentSchemas: { a: false } },
    { unevaluatedProperties: false },
    { const: {} },
    { enum: [{}] },
    { not: { required: ["a"] } },
  ])("is absent under %o", (schema) => {
    const compiled = compileSchema(schema);
    if (!compiled.ok) throw new Error(compiled.error.message);
    const { validator } = compiled;
    const absent = validator.check({});
    expect(validator.check({ a: undefined })).toBe(absent);
    expect(validator.validate({ a: undefined }).ok).toBe(absent);
  });
});

describe("the validator of the MCP SDK", () => {
  const validate = mcpJsonSchemaValidator().getValidator(person);

  it("gives the data without defaults, as a copy", () => {
    const input = { name: "Ada" };
    const result = validate(input);
    expect(result).toEqual({ valid: true, data: { name: "Ada" }, errorMessage: undefined });
    expect(result.data).not.toBe(input);
  });

  it("says in the error message where the value is wrong", () => {
    const message = "/tags/0: expected a string, got the number 1.";
    expect(validate({ name: "Ada", tags: [1] })).toEqual({ valid: false, data: undefined, errorMessage: message });
  });

  it("throws for a schema that it cannot compile, and names the place", () => {
    expect(() => mcpJsonSchemaValidator().getValidator({ properties: { a: { type: "strin" } } })).toThrow(
      /^KEYWORD_INVALID at "#?\/properties\/a\/type": /,
    );
  });
});

describe("a Standard Schema", () => {
  const schema = standardSchema(person);

  it("gives a copy with defaults, and the types of the schema", () => {
    const result = schema["~standard"].validate({ name: "Ada" });
    if (result.issues) throw new Error("refused");
    const { name, size }: { name: string; size: number } = result.value;
    expect([name, size]).toEqual(["Ada", 3]);
  });

  it("names the place of an issue by members and numbers of items", () => {
    const result = schema["~standard"].validate({ name: "Ada", tags: ["a", 1] });
    expect(result.issues?.map(({ path }) => path)).toEqual([["tags", 1]]);
  });

  it("gives its JSON Schema for its own draft alone", () => {
    const { jsonSchema } = schema["~standard"];
    expect(jsonSchema.input({ target: "draft-2020-12" })).toEqual(person);
    expect(() => jsonSchema.input({ target: "openapi-3.0" })).toThrow(/Got the target openapi-3\.0/);
  });
});

describe("the validator of a react-jsonschema-form", () => {
  const validator = rjsfValidator();

  it("gives errors as a list and by their place", () => {
    const { errors, errorSchema } = validator.validateFormData({ name: "", tags: ["a", 1] }, person);
    expect(errors.map(({ name, property }) => [name, property])).toEqual([
      ["minLength", ".name"],
      ["type", ".tags.1"],
    ]);
    expect(errorSchema["name"]).toEqual({ __errors: ['expected a string of 1 or more characters, got the string ""'] });
  });

  it("takes a member with the name of its own list of errors", () => {
    const form: unknown = JSON.parse('{ "__errors": { "a": 1 }, "__proto__": 1, "name": "" }');
    const { errors } = validator.validateFormData(form, person, undefined, (found: unknown) => [
      { stack: "first" },
      { property: ".__errors.a", message: "second", stack: "second" },
      { property: "", message: "third", stack: "third" },
      ...(found as object[]),
    ]);
    expect(errors.length).toBeGreaterThan(3);
  });

  it("shows an error at each item", () => {
    const { errors } = validator.validateFormData({ name: "Ada", tags: [1, 1] }, person);
    expect(errors.map(({ property }) => property)).toEqual([".tags.0", ".tags.1"]);
  });

  it("takes an emptied field for an absent one", () => {
    expect(validator.validateFormData({ name: "Ada", size: undefined }, person).errors).toEqual([]);
    expect(validator.validateFormData({ name: undefined }, person).errors).toHaveLength(1);
  });

  it("adds what the form's own functions say", () => {
    const custom = (data: never, errors: { name: { addError(text: string): void } }): unknown => {
      errors.name.addError("is taken");
      return errors;
    };
    const { errors, errorSchema } = validator.validateFormData({ name: "Ada" }, person, custom);
    expect(errors).toEqual([{ property: ".name", message: "is taken", stack: ".name is taken" }]);
    expect(errorSchema).toEqual({ name: { __errors: ["is taken"] } });
    const silent = validator.validateFormData({}, person, undefined, () => []);
    expect(silent).toEqual({ errors: [], errorSchema: {} });
  });

  it("judges a part by the definitions of the whole form", () => {
    const root = { definitions: { short: { type: "string", maxLength: 2 } } };
    const part = { $ref: "#/definitions/short" };
    expect(validator.isValid(part, "ab", root)).toBe(true);
    expect(validator.isValid(part, "abc", root)).toBe(false);
    expect(validator.isValid({ allOf: [part, { const: "ab" }] }, "ab", root)).toBe(true);
    expect(validator.isValid({ $ref: "#/definitions/gone" }, "ab", root)).toBe(false);
  });

  it("says why a schema cannot be compiled, in place of an exception", () => {
    const wrong = { type: "strin" };
    expect(validator.validateFormData({}, wrong).errors[0]?.stack).toMatch(/^KEYWORD_INVALID/);
    expect(validator.rawValidation(wrong).validationError?.message).toMatch(/^KEYWORD_INVALID/);
  });

  it("takes a member of any name as data, and changes no prototype", () => {
    const refused = validator.validateFormData(JSON.parse('{ "__proto__": 1 }'), { type: "object" });
    expect(Object.keys(refused.errorSchema)).toEqual(["__proto__"]);
    expect(({} as { __errors?: unknown }).__errors).toBe(undefined);
    const schema = { properties: { "a.b": { type: "string" } } };
    const { errors, errorSchema } = validator.validateFormData({ "a.b": 2 }, schema);
    expect(errors.map(({ property }) => property)).toEqual(["['a.b']"]);
    expect(Object.keys(errorSchema)).toEqual(["a.b"]);
  });
});
