/**
 * What metering costs, in one process: `npm run bench:fuel`. A ratio of 1.25 means that the metered program takes 1.25 times as long as the
 * same program as it was. Prints and never fails on a time.
 */
import { readFileSync } from "node:fs";
import { meter } from "../../packages/worker-host/src/wasm/meter/meter.ts";
import { initialFuel } from "../../packages/worker-host/src/wasm/meter/fuel-global.ts";

type Bytes = Uint8Array<ArrayBuffer>;

const ROUNDS = 40;
const LARGE = 10 ** 12;
const programs = JSON.parse(
  readFileSync(new URL("../wasm/programs/programs.json", import.meta.url), "utf8"),
) as Readonly<Record<string, string>>;
/** About 10 ms each, so that a round is more than its noise. */
const sizes: Readonly<Record<string, number>> = { sieve: 2_000_000, sha256: 30, matmul: 1, vm: 30_000, fib: 30 };

function metered(bytes: Bytes): Bytes {
  const result = meter(bytes, { memoryBytes: 2 ** 30 });
  if (!result.ok) throw new Error(result.message);
  return result.bytes;
}

function runner(bytes: Bytes, argument: number): () => void {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes));
  const fuelGlobal = exports["keyhole.fuel"] as WebAssembly.Global<"i64"> | undefined;
  const run = exports["run"] as (argument: number) => unknown;
  return () => {
    if (fuelGlobal) fuelGlobal.value = initialFuel(LARGE);
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
