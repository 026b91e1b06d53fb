/**
 * Checks the workloads, then objects that engines keep as tables, then the workloads again, with a line before each part:
 * the test beside it starts this with --trace-deopt and counts what the engine prints.
 */
import { compileSchema } from "@keyhole/kernel/schema";
import { workloads } from "../bench/schema-workloads.ts";

const MANY = 2_000;

function oddShaped(value: unknown): unknown {
  const copy = JSON.parse(JSON.stringify(value)) as Record<string, unknown>;
  const object = (Array.isArray(copy) ? copy[0] : copy) as Record<string, unknown>;
  for (let at = 0; at < MANY; at++) object[`k${at}`] = 1;
  for (let at = 0; at < MANY; at++) delete object[`k${at}`];
  object["7"] = 1;
  return copy;
}

const sets = workloads.map(({ schema, valid, invalid }) => {
  const compiled = compileSchema(schema);
  if (!compiled.ok) throw new Error(compiled.error.message);
  return { check: compiled.validator.check, values: [...valid, ...invalid] };
});

function checkAll(runs: number, form: (value: unknown) => unknown): void {
  for (const { check, values } of sets)
    for (const value of values.map(form)) for (let run = 0; run < runs; run++) check(value);
}

const same = (value: unknown): unknown => value;
console.log("== before");
checkAll(2_000, same);
console.log("== odd");
for (let time = 0; time < 20; time++) checkAll(20, oddShaped);
// What the odd objects taught may still cost something once.
for (let time = 0; time < 10; time++) checkAll(100, same);
console.log("== after");
for (let time = 0; time < 30; time++) {
  checkAll(100, same);
  checkAll(1, oddShaped);
}
console.log("== end");
