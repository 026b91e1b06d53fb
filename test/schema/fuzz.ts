/**
 * Random schemas and values against ajv. `npm run fuzz:schema` runs 100,000 pairs, `npm run fuzz:schema 5000 42` as many as
 * said from a seed.
 */
import { Ajv2020 } from "ajv/dist/2020.js";
import { Ajv } from "ajv";
import fc from "fast-check";
import { fileURLToPath } from "node:url";
import { compileSchema } from "@keyhole/kernel/schema";

const VALUES_PER_SCHEMA = 10;

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
function keywords(schema: fc.Arbitrary<unknown>, draft: "2020-12" | "draft-07"): fc.Arbitrary<Record<string, unknown>> {
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

function schemas(draft: "2020-12" | "draft-07"): fc.Arbitrary<unknown> {
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

/** Whether some schema in a schema has all of these keywords. */
function someSchema(schema: unknown, fits: (schema: Record<string, unknown>) => boolean): boolean {
  if (typeof schema !== "object" || schema === null) return false;
  return (
    (!Array.isArray(schema) && fits(schema as Record<string, unknown>)) ||
    Object.values(schema).some((part) => someSchema(part, fits))
  );
}

/** Faults of ajv 8.20, each against the text of the drafts. A pair is left out when its schema shows one of them. */
const AJV_FAULTS: readonly ((schema: unknown, value: unknown, draft: string) => boolean)[] = [
  // Multiples are told by parseInt of the quotient, which reads 2e+21 as 2.
  (schema, value) => JSON.stringify(value).includes("e+") && someSchema(schema, (each) => "multipleOf" in each),
  // Beside a list of schemas by position, contains takes the empty array.
  (schema) =>
    someSchema(schema, (each) => "contains" in each && ("prefixItems" in each || Array.isArray(each["items"]))),
  // What contains finds counts as evaluated (2020-12 core, 10.3.1.3); what a failed if or a failed branch of anyOf or oneOf saw does not (7.7.1.1).
  (schema) =>
    someSchema(schema, (each) => "unevaluatedItems" in each || "unevaluatedProperties" in each) &&
    someSchema(schema, (each) => ["contains", "if", "anyOf", "oneOf"].some((name) => name in each)),
  // An items that allows everything counts as evaluating nothing, where it evaluates all (10.3.1.2).
  (schema) =>
    someSchema(schema, (each) => "unevaluatedItems" in each) && someSchema(schema, (each) => each["items"] === true),
  // Draft 7: what is beside $ref must be ignored.
  (schema, _value, draft) =>
    draft === "draft-07" && someSchema(schema, (each) => "$ref" in each && Object.keys(each).length > 1),
];

export interface FuzzReport {
  readonly pairs: number;
  readonly disagreements: readonly string[];
}

/** Code that ajv generates for unevaluatedProperties can throw a TypeError; then it has no verdict. */
function verdictOf(validate: (value: unknown) => unknown, item: unknown, otherwise: boolean): boolean {
  try {
    return validate(item) === true;
  } catch {
    return otherwise;
  }
}

/** Compares verdicts; also that `validate` says the same as `check`, and explains each refusal. */
export function fuzz(pairs: number, seed: number): FuzzReport {
  const disagreements: string[] = [];
  let done = 0;
  const run = (draft: "2020-12" | "draft-07", runs: number): void => {
    const options = { strict: false, logger: false as const, validateSchema: false, addUsedSchema: false };
    const samples = fc.sample(
      fc.tuple(schemas(draft), fc.array(value, { minLength: VALUES_PER_SCHEMA, maxLength: VALUES_PER_SCHEMA })),
      { numRuns: runs, seed },
    );
    for (const [schema, values] of samples) {
      const ajv = draft === "2020-12" ? new Ajv2020(options) : new Ajv(options);
      const theirs = ajv.compile(schema as object);
      const ours = compileSchema(schema, { draft, defaults: "ignore" });
      if (!ours.ok) {
        disagreements.push(`${ours.error.message} ${ours.error.schemaPath}: ${JSON.stringify(schema)}`);
        continue;
      }
      for (const item of values) {
        done++;
        const verdict = ours.validator.check(item);
        const result = ours.validator.validate(item);
        const line = `${draft} ${JSON.stringify(schema)} ${JSON.stringify(item)}`;
        if (result.ok !== verdict) disagreements.push(`validate says ${result.ok}: ${line}`);
        if (!result.ok && result.errors.length === 0) disagreements.push(`no errors: ${line}`);
        if (!result.ok && result.errors.some((error) => error.keyword === "limit"))
          disagreements.push(`limit: ${line}`);
        if (verdictOf(theirs, item, verdict) !== verdict && !AJV_FAULTS.some((fault) => fault(schema, item, draft)))
          disagreements.push(`check says ${verdict}: ${line}`);
      }
    }
  };
  const runs = Math.ceil(pairs / VALUES_PER_SCHEMA / 2);
  for (const draft of ["2020-12", "draft-07"] as const) run(draft, runs);
  return { pairs: done, disagreements };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const pairs = Number(process.argv[2] ?? 100_000);
  const seed = Number(process.argv[3] ?? Date.now() % 2 ** 31);
  const report = fuzz(pairs, seed);
  console.log(`${report.pairs} pairs from seed ${seed}: ${report.disagreements.length} disagreements`);
  for (const line of report.disagreements.slice(0, 10)) console.log(line.slice(0, 3000));
  process.exitCode = report.disagreements.length === 0 ? 0 : 1;
}
