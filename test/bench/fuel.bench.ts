/**
 * What metering costs, in one process: `npm run bench:fuel`. A ratio of 1.25 means that the metered program takes 1.25 times as long as the
 * same program as it was. Prints and never fails on a time.
 */
import { readFileSync } from "node:fs";
import { meter } from "../../packages/worker-host/src/wasm/meter/meter.ts";
import { Reader } from "../../packages/worker-host/src/wasm/meter/reader.ts";
import { fill } from "../../packages/worker-host/src/wasm/meter/tank.ts";
import { Writer } from "../../packages/worker-host/src/wasm/meter/writer.ts";

type Bytes = Uint8Array<ArrayBuffer>;

const ROUNDS = 40;
const LARGE = 10 ** 12;
const programs = JSON.parse(
  readFileSync(new URL("../wasm/programs/programs.json", import.meta.url), "utf8"),
) as Readonly<Record<string, string>>;
/** About 10 ms each, so that a round is more than its noise. */
const sizes: Readonly<Record<string, number>> = { sieve: 2_000_000, sha256: 30, matmul: 1, vm: 30_000, fib: 30 };

function metered(bytes: Bytes, moduleBytes?: number): Bytes {
  const result = meter(bytes, { memoryBytes: 2 ** 30, ...(moduleBytes !== undefined && { moduleBytes }) });
  if (!result.ok) throw new Error(result.message);
  return result.bytes;
}

function runner(bytes: Bytes, argument: number): () => void {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes));
  const tank = exports["keyhole.tank"] as WebAssembly.Global<"i64"> | undefined;
  const run = exports["run"] as (argument: number) => unknown;
  return () => {
    if (tank) tank.value = fill(LARGE);
    run(argument);
  };
}

/** The fastest of rounds that take turns: what else the machine does only ever makes one slower. */
function fastest(runs: readonly (() => void)[]): number[] {
  const best = runs.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [i, run] of runs.entries()) {
      const start = performance.now();
      run();
      best[i] = Math.min(best[i]!, performance.now() - start);
    }
  }
  return best;
}

let product = 1;
console.log("program    as it was    metered     ratio   bar: 1.70 each, 1.25 geometric mean");
for (const [name, argument] of Object.entries(sizes)) {
  const bytes = new Uint8Array(Buffer.from(programs[name]!, "base64"));
  const [plain = 0, counted = 0] = fastest([runner(bytes, argument), runner(metered(bytes), argument)]);
  product *= counted / plain;
  const cells = [
    `${plain.toFixed(2)} ms`.padStart(12),
    `${counted.toFixed(2)} ms`.padStart(11),
    (counted / plain).toFixed(2).padStart(10),
  ];
  console.log(`${name.padEnd(8)}${cells.join("")}`);
}
console.log(`geometric mean ${(product ** (1 / Object.keys(sizes).length)).toFixed(3).padStart(26)}`);

/** Functions, code, data. */
const dataCount = 12;
const repeatedSections: ReadonlySet<number> = new Set([3, 10, 11]);

/** A module of about `size` bytes: the functions and data of a real one, again and again. */
function repeated(original: Bytes, size: number): Bytes {
  const times = Math.ceil(size / original.length);
  const reader = new Reader(original, 8);
  const out = new Writer(size);
  out.copy(original, 0, 8);
  while (!reader.done) {
    const id = reader.byte();
    const part = reader.part(reader.u32());
    const body = new Writer(part.end - part.at);
    if (repeatedSections.has(id)) {
      body.u32(part.u32() * times);
      for (let i = 0; i < times; i++) body.copy(original, part.at, part.end);
    } else if (id === dataCount) {
      body.u32(part.u32() * times);
    } else {
      body.copy(original, part.at, part.end);
    }
    if (id === 0) continue;
    out.byte(id);
    out.sized(body.written);
  }
  return out.written.slice();
}

const cedar = new URL("../web/cedar_wasm_bg.wasm", import.meta.resolve("@cedar-policy/cedar-wasm"));
const large = repeated(new Uint8Array(readFileSync(cedar)), 30_000_000);
let validateMs = Number.POSITIVE_INFINITY;
let meterMs = Number.POSITIVE_INFINITY;
let after = large;
for (let round = 0; round < 3; round++) {
  const start = performance.now();
  WebAssembly.validate(large);
  const middle = performance.now();
  after = metered(large, 2 ** 30);
  validateMs = Math.min(validateMs, middle - start);
  meterMs = Math.min(meterMs, performance.now() - middle);
}
const speed = (ms: number): string => `${(large.length / ms / 1_000).toFixed(1)} MB/s`;
console.log(
  `\na Rust program of ${(large.length / 1e6).toFixed(1)} MB: metered at ${speed(meterMs)}, of which the engine's validation alone ${speed(validateMs)} (bar: 20 MB/s)`,
);
console.log(`growth ${(after.length / large.length).toFixed(2)} (bar: 1.60)`);
