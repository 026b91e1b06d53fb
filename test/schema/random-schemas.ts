import fc from "fast-check";
import { compileSchema, type Validator } from "@keyhole/kernel/schema";

export type Draft = "2020-12" | "draft-07";

export const drafts: readonly Draft[] = ["2020-12", "draft-07"];

const names = fc.constantFrom("a", "b", "c", "ab", "x-1");
const smallNumber = fc.oneof(fc.integer({ min: -5, max: 12 }), fc.constantFrom(0.5, 1.5, 0.1, 0.3, 19.99, -0, 1e21));
const text = fc.oneof(
  fc.constantFrom("", "a", "ab", "abc", "x-1", "é", "😀", "😀😀", "1", "A b"),
  fc.string({ maxLength: 4 }),
);

const value = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    smallNumber,
    text,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("any"), { maxLength: 4 }),
    fc.dictionary(names, tie("any"), { maxKeys: 4, noNullPrototype: true }),
  ),
})).any;

const count = fc.integer({ min: 0, max: 4 });
const type = fc.constantFrom("null", "boolean", "integer", "number", "string", "array", "object");
const pattern = fc.constantFrom("^a", "b$", "^x-", "^[a-c]+$", "\\d", "^(?:a|ab)*$", "^.$", "[^a]");

/** Keywords that mean the same alone and together; each is there or not. */
function keywords(schema: fc.Arbitrary<unknown>, draft: Draft): fc.Arbitrary<Record<string, unknown>> {
  const list = fc.array(schema, { minLength: 1, maxLength: 3 });
  const map = fc.dictionary(names, schema, { maxKeys: 3, noNullPrototype: true });
  const needs = fc.dictionary(names, fc.uniqueArray(names, { maxLength: 2 }), { maxKeys: 2, noNullPrototype: true });
  const shared = {
    type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })),
    enum: fc.uniqueArray(value, { minLength: 1, maxLength: 4, selector: (item) => JSON.stringify(item) }),
    const: value,
    minimum: smallNumber,
    maximum: smallNumber,
    exclusiveMinimum: smallNumber,
    exclusiveMaximum: smallNumber,
    multipleOf: fc.constantFrom(1, 2, 3, 0.5, 5),
    minLength: count,
    maxLength: count,
    pattern,
    minItems: count,
    maxItems: count,
    uniqueItems: fc.boolean(),
    contains: schema,
    properties: map,
    additionalProperties: schema,
    patternProperties: fc.dictionary(pattern, schema, { maxKeys: 2, noNullPrototype: true }),
    propertyNames: schema,
    required: fc.uniqueArray(names, { maxLength: 3 }),
    minProperties: count,
    maxProperties: count,
    allOf: list,
    anyOf: list,
    oneOf: list,
    not: schema,
    if: schema,
    then: schema,
    else: schema,
  };
  const own: Record<string, fc.Arbitrary<unknown>> = draft === "2020-12"
    ? {
        prefixItems: list,
        items: schema,
        minContains: count,
        maxContains: count,
        dependentRequired: needs,
        dependentSchemas: map,
        unevaluatedProperties: schema,
        unevaluatedItems: schema,
        $ref: fc.constantFrom("#/$defs/a", "#/$defs/b"),
      }
    : {
        items: fc.oneof(schema, list),
        additionalItems: schema,
        dependencies: fc.oneof(needs, map),
        $ref: fc.constantFrom("#/definitions/a", "#/definitions/b"),
      };
  const all: Record<string, fc.Arbitrary<unknown>> = { ...shared, ...own };
  const keys = Object.keys(all);
  return fc
    .subarray(keys, { minLength: 1, maxLength: 5 })
    .chain((chosen) => fc.record(Object.fromEntries(chosen.map((key) => [key, all[key] as fc.Arbitrary<unknown>]))));
}

function schemas(draft: Draft): fc.Arbitrary<unknown> {
  const any = fc.letrec<{ schema: unknown }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 3, depthSize: "small" },
      fc.boolean(),
      type.map((name) => ({ type: name })),
      keywords(tie("schema"), draft),
    ),
  })).schema;
  // The definitions refer to nothing, so that no chain of references goes round.
  const plain = fc.constantFrom(
    { type: "string" },
    { minimum: 2 },
    { properties: { a: { type: "integer" } } },
    { required: ["b"], properties: { b: true } },
    { items: { type: "integer" } },
    false,
  );
  const definitions = draft === "2020-12" ? "$defs" : "definitions";
  return fc
    .record({ root: keywords(any, draft), a: plain, b: plain })
    .map(({ root, a, b }) => ({ ...root, [definitions]: { a, b } }));
}

/** Random schemas, each with as many random values. */
export function samples(draft: Draft, numRuns: number, seed: number, valuesPerSchema: number): [unknown, unknown[]][] {
  const values = fc.array(value, { minLength: valuesPerSchema, maxLength: valuesPerSchema });
  return fc.sample(fc.tuple(schemas(draft), values), { numRuns, seed });
}

/** The validator of a schema, which has to compile. */
export function validatorOf(schema: unknown, draft: Draft): Validator {
  const compiled = compileSchema(schema, { draft, defaults: "ignore" });
  if (compiled.ok) return compiled.validator;
  throw new Error(`${compiled.error.message} ${compiled.error.schemaPath}: ${JSON.stringify(schema)}`);
}

/** What is wrong with a verdict by itself: `validate` says the same as `check`, and explains each refusal. */
export function contradictions(validator: Validator, item: unknown): string[] {
  const verdict = validator.check(item);
  const result = validator.validate(item);
  return [
    ...(result.ok === verdict ? [] : [`validate says ${result.ok}, check says ${verdict}`]),
    ...(!result.ok && result.errors.length === 0 ? ["a refusal has no errors"] : []),
    ...(!result.ok && result.errors.some(({ keyword }) => keyword === "limit") ? ["a limit was met"] : []),
  ];
}
