// One warm round trip of 1 KB through an isolate of the browser against a bare `postMessage` round trip of the same value to a frame's worker
// of the same kind, in one page; how long a tool without an isolate waits for its first result; and 10 MB on their way out of one and into one.
import { fileURLToPath } from "node:url";
import { keyhole } from "../../scripts/keyhole-plugin.mjs";
import { atMost } from "./bar.ts";
import { figuresOf } from "./figures.ts";
import type { BulkRow, Spread } from "./isolate/bulk.ts";

interface Figures {
  readonly bareUs: number;
  readonly isolateUs: number;
  readonly kernelUs: number;
  readonly fewInTurnUs: number;
  readonly manyInTurnUs: number;
  readonly warmFirstMs: number;
  readonly coldFirstMs: number;
  readonly bareColdMs: number;
  readonly openedMs: number;
  readonly stalledMs: number;
  readonly answered: number;
  readonly bulk: Readonly<Record<BulkRow, Spread>>;
}

const bulkBars: { readonly [Row in BulkRow]?: number } = {
  handedOver: 1.3,
  binary: 1.3,
  kernelHandedOver: 2,
  kernelBinary: 2,
  kernelBody: 2,
};

/** What comes out of an isolate is made there in the time that is measured, as for the bare transfer; `kernel.call` hashes it as well. */
const bulkNames = {
  bare: "bare transfer, 10 MB",
  bareKept: "the same, its sender keeps the bytes",
  handedOver: "isolate, bytes that it hands over",
  binary: "isolate, bytes that it keeps",
  stream: "isolate, the same as a stream",
  kernelHandedOver: "kernel.call, bytes handed over",
  kernelBinary: "kernel.call, bytes that it keeps",
  kernelStream: "kernel.call, the same as a stream",
  kernelBody: "kernel.call, a body of 10 MB",
  hash: "hash of 10 MB by itself",
} as const satisfies Record<BulkRow, string>;

const page = fileURLToPath(new URL("isolate", import.meta.url));
report((await figuresOf(page, { plugins: [keyhole()] })) as Figures);

function report(figures: Figures): void {
  const { fewInTurnUs, manyInTurnUs } = figures;
  const { bareUs, isolateUs, kernelUs, warmFirstMs, coldFirstMs, bareColdMs, openedMs, stalledMs, answered } = figures;
  const rows = [
    ["bare postMessage round trip, 1 KB", `${bareUs.toFixed(0)} µs`, ""],
    ["isolate round trip", `${isolateUs.toFixed(0)} µs`, `${(isolateUs / bareUs).toFixed(2)} × bare`],
    [
      "kernel.call, whole pipeline",
      `${kernelUs.toFixed(0)} µs`,
      `${(kernelUs / bareUs).toFixed(2)} × bare ${atMost(kernelUs / bareUs, 1.5)}`,
    ],
    ["kernel.call, 8 sessions in turn", `${fewInTurnUs.toFixed(0)} µs`, ""],
    [
      "the same, 64 sessions",
      `${manyInTurnUs.toFixed(0)} µs`,
      `${(manyInTurnUs / fewInTurnUs).toFixed(2)} × of 8 ${atMost(manyInTurnUs / fewInTurnUs, 1.5)}`,
    ],
    ["first result, warm pair", `${warmFirstMs.toFixed(1)} ms`, atMost(warmFirstMs, 5, "ms")],
    ["the same, bare frame and worker", `${bareColdMs.toFixed(1)} ms`, ""],
    [
      "first result, new frame and worker",
      `${coldFirstMs.toFixed(1)} ms`,
      `${(coldFirstMs / bareColdMs).toFixed(2)} × bare ${atMost(coldFirstMs / bareColdMs, 1.2)}`,
    ],
    ["100 isolates opened at once", `${openedMs.toFixed(0)} ms`, `${answered} answered`],
    ["the page's longest standstill by it", `${stalledMs.toFixed(0)} ms`, ""],
    ...bulkRows(figures.bulk),
  ];
  for (const [what, figure, note] of rows) console.log(`${what.padEnd(36)} ${figure.padStart(10)}  ${note}`);
}

function bulkRows(bulk: Figures["bulk"]): (readonly [string, string, string])[] {
  const { bare } = bulk;
  const times = (ms: number, bareMs: number): string => `${(ms / bareMs).toFixed(2)} × bare`;
  return (Object.keys(bulkNames) as BulkRow[]).map((row) => {
    const { medianMs, quarterMs } = bulk[row];
    const quarter = `lower quartile ${quarterMs.toFixed(1)} ms`;
    const note =
      row === "bare" ? quarter : `${times(medianMs, bare.medianMs)}, ${quarter}, ${times(quarterMs, bare.quarterMs)}`;
    const bar = bulkBars[row];
    const held = bar === undefined ? "" : ` ${atMost(medianMs / bare.medianMs, bar)}`;
    return [bulkNames[row], `${medianMs.toFixed(1)} ms`, note + held];
  });
}
