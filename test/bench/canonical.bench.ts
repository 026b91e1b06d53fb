/**
 * Canonical JSON against `JSON.stringify`, and BLAKE3, in one process: `npm run bench:canonical`. A ratio of 0.6 means 0.6 times the
 * speed of `JSON.stringify`. Prints and never fails on a time.
 */
import { blake3, canonicalize, hashText, parseJson, snapshot } from "../../packages/kernel/src/index.ts";
import { atLeast, atMost } from "./bar.ts";
import { documents } from "./canonical-documents.ts";
import { byProcessor, processorMs } from "./processor.ts";

type Run = () => unknown;

const ROUNDS = 21;
const ROUND_MS = 15;
let sink = 0;

/** Runs of a function until a round is over; nanoseconds of processor time per run. */
function round(run: Run): number {
  const start = processorMs();
  let runs = 0;
  let elapsed = 0;
  do {
    for (let i = 0; i < 1 + runs / 4; i++, runs++) if (run() !== undefined) sink++;
    elapsed = processorMs() - start;
  } while (elapsed < ROUND_MS);
  return (elapsed * 1e6) / runs;
}

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN;

/** Medians of rounds that take turns, so that what else the machine does hits all alike. */
function compare(runs: readonly Run[]): number[] {
  const times: number[][] = runs.map(() => []);
  for (let turn = -2; turn < ROUNDS; turn++) {
    for (const [i, run] of runs.entries()) {
      const time = round(run);
      if (turn >= 0) times[i]?.push(time);
    }
  }
  return times.map(median);
}

const time = (ns: number): string =>
  (ns < 10_000
    ? `${ns.toFixed(0)} ns`
    : ns < 10_000_000
      ? `${(ns / 1e3).toFixed(0)} µs`
      : `${(ns / 1e6).toFixed(1)} ms`
  ).padStart(10) + ` ${byProcessor}`;

/** Engines join strings lazily. Whoever reads a text pays for laying it out; reading it as a number does that and little more. */
const readWhole = (text: string): number => Number(text);

function canonicalText(value: unknown): string {
  const result = canonicalize(value);
  if (!result.ok) throw new Error(result.error.message);
  return result.text;
}

for (const { name, bar, value } of documents()) {
  const [reference = NaN, laidOut = NaN, returned = NaN] = compare([
    () => readWhole(JSON.stringify(value)),
    () => readWhole(canonicalText(value)),
    () => canonicalText(value).length,
  ]);
  const ratio = (ns: number): string => (reference / ns).toFixed(2).padStart(6);
  const bytes = `${(JSON.stringify(value).length / 1e3).toFixed(1)} KB`;
  const held = bar === undefined ? "" : atLeast(reference / laidOut, bar);
  console.log(
    `${`${name}, ${bytes}`.padEnd(34)}${ratio(laidOut)} × the speed of JSON.stringify, ${time(reference).trim()}; not laid out ${ratio(returned).trim()} ${held}`,
  );
}

const first = documents()[0]?.value;
const text = JSON.stringify(first);
const [clone = NaN, copy = NaN, plainParse = NaN, checkedParse = NaN] = compare([
  () => structuredClone(first),
  () => snapshot(first),
  () => JSON.parse(text) as unknown,
  () => parseJson(text),
]);
console.log(`\nsnapshot, 1 KB  ${time(copy)}  ${(clone / copy).toFixed(2)} × the speed of structuredClone`);
console.log(
  `parseJson, 1 KB ${time(checkedParse)}  ${(plainParse / checkedParse).toFixed(2)} × the speed of JSON.parse`,
);

const bytes = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => i);
const [tiny, small, large] = [bytes(64), bytes(1024), bytes(1 << 20)];
const ascii = "x".repeat(64);
const [tinyNs = NaN, smallNs = NaN, largeNs = NaN, textNs = NaN] = compare([
  () => blake3(tiny),
  () => blake3(small),
  () => blake3(large),
  () => hashText(ascii),
]);
const speed = (length: number, ns: number): string => `${((length * 1e3) / ns).toFixed(0)} MB/s`;
console.log(`\nBLAKE3, 64 B    ${time(tinyNs)}  ${atMost(tinyNs, 300, "ns")}`);
console.log(`BLAKE3, 1 KB    ${time(smallNs)}  ${speed(1024, smallNs)} ${atLeast(1024e3 / smallNs, 300, "MB/s")}`);
console.log(`BLAKE3, 1 MB    ${time(largeNs)}  ${speed(1 << 20, largeNs)}`);
console.log(`hashText, 64 B  ${time(textNs)}  with UTF-8 and printing`);
if (sink < 0) throw new Error("unreachable");
