/** Bytes that one `check` of about 1 MB of JSON leaves behind; the test beside it starts this in a process of its own. */
import { compileSchema } from "@keyhole/kernel/schema";
import { workloads } from "../bench/schema-workloads.ts";

const workload = workloads.find(({ name }) => name === "array of 1000");
const rows = workload?.valid[0] as unknown[];
const value: unknown = JSON.parse(JSON.stringify(Array.from({ length: 20 }, () => rows).flat()));
const compiled = compileSchema({ ...workload?.schema, maxItems: 100_000 });
if (!compiled.ok) throw new Error(compiled.error.message);
const { check } = compiled.validator;
for (let warm = 0; warm < 200; warm++) check(value);

const RUNS = 200;
(globalThis as unknown as { gc: () => void }).gc();
const before = process.memoryUsage().heapUsed;
let ok = true;
for (let run = 0; run < RUNS; run++) ok = check(value) && ok;
const bytes = (process.memoryUsage().heapUsed - before) / RUNS;
console.log(
  JSON.stringify({ ok, jsonBytes: JSON.stringify(value).length, bytesPerCheck: Math.max(0, Math.round(bytes)) }),
);
