/**
 * JSON Schema against ajv 8's generated code, in one process: `npm run bench:schema`. Prints ratios (ours over ajv's, below
 * one is faster) and never fails on a time.
 */
import { Ajv2020 } from "ajv/dist/2020.js";
import * as ajvFormats from "ajv-formats";
import { compileSchema } from "@keyhole/kernel/schema";
import { workloads } from "../../bench/schema-workloads.ts";

type Run = () => unknown;
let sink = 0;

const ROUNDS = 31;
const ROUND_MS = 12;

/** Runs of a function until a round is over; nanoseconds per run. */
function round(run: Run, batch: number): number {
  const start = performance.now();
  let runs = 0;
  let elapsed = 0;
  do {
    for (let index = 0; index < batch; index++) if (run() !== undefined) sink++;
    runs += batch;
    elapsed = performance.now() - start;
  } while (elapsed < ROUND_MS);
  return (elapsed * 1e6) / runs;
}

const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1] as number;

/** Medians of rounds that take turns, so that what else the machine does hits all alike. */
function compare(runs: readonly Run[]): number[] {
  const batches = runs.map((run) => Math.max(1, Math.ceil(200_000 / round(run, 1))));
  runs.forEach((run, index) => round(run, batches[index] as number));
  const times: number[][] = runs.map(() => []);
  for (let turn = 0; turn < ROUNDS; turn++) {
    runs.forEach((run, index) => times[index]?.push(round(run, batches[index] as number)));
  }
  return times.map(median);
}

const geometricMean = (values: readonly number[]): number =>
  Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);

function compiled(schema: unknown): (value: unknown) => boolean {
  const result = compileSchema(schema);
  if (!result.ok) throw new Error(result.error.message);
  return result.validator.check;
}

function newAjv(): { compile(schema: object): (value: unknown) => boolean } {
  const ajv = new Ajv2020({ strict: false });
  const add = (ajvFormats.default as unknown as { default?: unknown }).default ?? ajvFormats.default;
  (add as (to: unknown) => void)(ajv);
  return ajv;
}

const all = (check: (value: unknown) => boolean, values: readonly unknown[], want: boolean): Run => {
  for (const value of values)
    if (check(value) !== want) throw new Error(`expected ${want} for ${JSON.stringify(value).slice(0, 200)}`);
  return () => {
    for (let index = 0; index < values.length; index++) if (check(values[index]) !== want) return undefined;
    return true;
  };
};

const ns = (value: number): string =>
  (value < 10_000 ? `${value.toFixed(0)} ns` : `${(value / 1000).toFixed(1)} µs`).padStart(10);
const columns = { valid: [] as number[], invalid: [] as number[], compile: [] as number[] };

// Every shape of value and schema is met once before anything is measured, as in a process that validates more than one thing.
const checks = workloads.map(({ schema }) => ({ ours: compiled(schema), theirs: newAjv().compile(schema) }));
for (const [index, { valid, invalid }] of workloads.entries()) {
  for (let n = 0; n < 200; n++)
    for (const value of [...valid, ...invalid]) for (const check of Object.values(checks[index] ?? {})) check(value);
}

console.log(
  `${"workload".padEnd(26)}${"valid".padStart(22)}${"ratio".padStart(8)}${"invalid".padStart(22)}${"ratio".padStart(8)}${"compile".padStart(12)}`,
);
for (const [index, { name, schema, valid, invalid }] of workloads.entries()) {
  const { ours, theirs } = checks[index] as (typeof checks)[number];
  const [v1 = 0, v2 = 1] = compare([all(ours, valid, true), all(theirs, valid, true)]);
  const [i1 = 0, i2 = 1] = compare([all(ours, invalid, false), all(theirs, invalid, false)]);
  const [c1 = 0] = compare([() => compileSchema(schema)]);
  columns.valid.push(v1 / v2);
  columns.invalid.push(i1 / i2);
  columns.compile.push(c1);
  const per = (value: number, count: number): string => ns(value / count);
  console.log(
    `${name.padEnd(26)}${per(v1, valid.length)} ${per(v2, valid.length)} ${(v1 / v2).toFixed(2).padStart(7)}${per(i1, invalid.length)} ${per(i2, invalid.length)} ${(i1 / i2).toFixed(2).padStart(8)}${ns(c1).padStart(12)}`,
  );
}
const ajvCompile = median(
  workloads.map(({ schema }) => {
    const ajv = newAjv();
    const start = performance.now();
    ajv.compile(schema);
    return (performance.now() - start) * 1e6;
  }),
);
console.log(
  `geometric mean: valid ${geometricMean(columns.valid).toFixed(2)} × ajv, worst ${Math.max(...columns.valid).toFixed(2)} ×; invalid ${geometricMean(columns.invalid).toFixed(2)} × ajv, worst ${Math.max(...columns.invalid).toFixed(2)} ×; compile ${ns(geometricMean(columns.compile)).trim()} (ajv: median ${ns(ajvCompile).trim()})`,
);
if (sink < 0) throw new Error("unreachable");
