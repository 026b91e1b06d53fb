/**
 * Random schemas and values against ajv. `npm run fuzz:schema` runs 100,000 pairs, `npm run fuzz:schema 5000 42` as many as
 * said from a seed.
 */
import { Ajv2020 } from "ajv/dist/2020.js";
import { Ajv } from "ajv";
import { fileURLToPath } from "node:url";
import { contradictions, type Draft, drafts, samples, validatorOf } from "../../schema/random-schemas.ts";

const valuesPerSchema = 10;

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

/** Code that ajv generates for unevaluatedProperties can throw a TypeError; then it has no verdict. */
function ajvVerdicts(draft: Draft, schema: unknown): (item: unknown) => boolean | undefined {
  const options = { strict: false, logger: false as const, validateSchema: false, addUsedSchema: false };
  const validate = (draft === "2020-12" ? new Ajv2020(options) : new Ajv(options)).compile(schema as object);
  return (item) => {
    if (AJV_FAULTS.some((fault) => fault(schema, item, draft))) return undefined;
    try {
      return validate(item);
    } catch {
      return undefined;
    }
  };
}

export interface FuzzReport {
  readonly pairs: number;
  readonly disagreements: readonly string[];
}

/** Compares verdicts; also that `validate` says the same as `check`, and explains each refusal. */
export function fuzz(pairs: number, seed: number): FuzzReport {
  const disagreements: string[] = [];
  let done = 0;
  const numRuns = Math.ceil(pairs / valuesPerSchema / 2);
  for (const draft of drafts) {
    for (const [schema, values] of samples(draft, numRuns, seed, valuesPerSchema)) {
      const theirs = ajvVerdicts(draft, schema);
      const ours = validatorOf(schema, draft);
      for (const item of values) {
        done++;
        const verdict = ours.check(item);
        const faults = contradictions(ours, item);
        if ((theirs(item) ?? verdict) !== verdict) faults.push(`check says ${verdict}`);
        disagreements.push(
          ...faults.map((fault) => `${fault}: ${draft} ${JSON.stringify(schema)} ${JSON.stringify(item)}`),
        );
      }
    }
  }
  return { pairs: done, disagreements };
}

/** Schemas with values that ajv takes and values that it refuses: one line of JSON each, for the quick suite. */
export function recordVerdicts(schemasPerDraft: number, seed: number): string {
  const lines = drafts.flatMap((draft) =>
    samples(draft, schemasPerDraft, seed, 6).flatMap(([schema, values]) => {
      const theirs = ajvVerdicts(draft, schema);
      // As they are read from the file: JSON has no -0.
      const items = values.map((item): unknown => JSON.parse(JSON.stringify(item)));
      const [valid, invalid] = [true, false].map((verdict) => items.filter((item) => theirs(item) === verdict));
      return [JSON.stringify({ draft, schema, valid, invalid })];
    }),
  );
  return `${lines.join("\n")}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const pairs = Number(process.argv[2] ?? 100_000);
  const seed = Number(process.argv[3] ?? Date.now() % 2 ** 31);
  const report = fuzz(pairs, seed);
  console.log(`${report.pairs} pairs from seed ${seed}: ${report.disagreements.length} disagreements`);
  for (const line of report.disagreements.slice(0, 10)) console.log(line.slice(0, 3000));
  process.exitCode = report.disagreements.length === 0 ? 0 : 1;
}
