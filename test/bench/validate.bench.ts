/**
 * `validate` of valid values, copy and defaults included, beside `check`: `npm run bench:validate`. Both take turns in one process. `validateOwn` is
 * what a kernel calls, whose values are copies already. Prints and never fails on a time.
 */
import { compileSchema, type Validator } from "@keyhole/kernel/schema";
import { atMost } from "./bar.ts";
import { byProcessor, processorMs } from "./processor.ts";

const BAR = 2;
const ROUNDS = 21;
const ROUND_MS = 10;

const record = {
  type: "object",
  properties: {
    id: { type: "integer", minimum: 1 },
    name: { type: "string", minLength: 1, maxLength: 100 },
    active: { type: "boolean", default: true },
    role: { enum: ["admin", "user", "guest"], default: "user" },
    score: { type: "number" },
    note: { type: ["string", "null"] },
    address: {
      type: "object",
      properties: {
        street: { type: "string" },
        zip: { type: "string", default: "00000" },
        tags: { type: "array", items: { type: "string" } },
      },
    },
  },
  required: ["id", "name"],
  additionalProperties: false,
};
const whole = {
  id: 4_711,
  name: "Ada",
  active: true,
  role: "admin",
  score: 99.5,
  note: null,
  address: { street: "x", zip: "1", tags: ["a", "b"] },
};
const { active: _, role: __, ...missing } = whole;
const rows = <Row>(row: Row): Row[] => Array.from({ length: 100 }, () => structuredClone(row));
const tags = { ...whole, address: { tags: Array.from({ length: 100 }, (___, index) => `tag ${index}`) } };

function validatorOf(schema: unknown): Validator {
  const compiled = compileSchema(schema);
  if (!compiled.ok) throw new Error(compiled.error.message);
  return compiled.validator;
}
const [one, many] = [validatorOf(record), validatorOf({ type: "array", items: record })];
const cases: readonly (readonly [string, Validator, unknown])[] = [
  ["one object", one, whole],
  ["one object, 2 defaults missing", one, missing],
  ["one object, an array of 100", one, tags],
  ["100 objects", many, rows(whole)],
  ["100 objects, 2 defaults missing each", many, rows(missing)],
];

/** Nanoseconds of processor time a run. */
function round(run: () => unknown): number {
  const start = processorMs();
  let runs = 0;
  do
    for (let index = 0; index < 1 + runs / 4; index++, runs++)
      if (run() === false) throw new Error("A value was refused.");
  while (processorMs() - start < ROUND_MS);
  return ((processorMs() - start) * 1e6) / runs;
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;
for (const [name, validator, value] of cases) {
  const runs = [() => validator.check(value), () => validator.validate(value), () => validator.validateOwn(value)];
  const times: number[][] = runs.map(() => []);
  for (let turn = -3; turn < ROUNDS; turn++)
    for (const [at, run] of runs.entries()) {
      const time = round(run);
      if (turn >= 0) times[at]!.push(time);
    }
  const [check = NaN, validate = NaN, own = NaN] = times.map(median);
  const ratio = validate / check;
  console.log(
    `${name.padEnd(38)} check ${check.toFixed(0)} ns ${byProcessor}, validateOwn ${(own / check).toFixed(2)} ×, validate ${ratio.toFixed(2)} × ${atMost(ratio, BAR)}`,
  );
}
