/**
 * How fast a large module is metered: `npm run bench:fuel`. The module is a Rust program of 5 MB, Cedar, with its functions
 * repeated. Prints and never fails on a time.
 */
import { readFileSync } from "node:fs";
import { meter } from "../../../packages/worker-host/src/wasm/meter/meter.ts";
import { Reader } from "../../../packages/worker-host/src/wasm/meter/reader.ts";
import { Writer } from "../../../packages/worker-host/src/wasm/meter/writer.ts";

type Bytes = Uint8Array<ArrayBuffer>;

function metered(bytes: Bytes): Bytes {
  const result = meter(bytes, { memoryBytes: 2 ** 30, moduleBytes: 2 ** 30 });
  if (!result.ok) throw new Error(result.message);
  return result.bytes;
}

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
  after = metered(large);
  validateMs = Math.min(validateMs, middle - start);
  meterMs = Math.min(meterMs, performance.now() - middle);
}
const speed = (ms: number): string => `${(large.length / ms / 1_000).toFixed(1)} MB/s`;
console.log(
  `a Rust program of ${(large.length / 1e6).toFixed(1)} MB: metered at ${speed(meterMs)}, of which the engine's validation alone ${speed(validateMs)} (bar: 20 MB/s)`,
);
console.log(`growth ${(after.length / large.length).toFixed(2)} (bar: 1.60)`);
