// One warm round trip of 1 KB through an isolate of the browser against a bare `postMessage` round trip of the same value to a frame's worker
// of the same kind, in one page; and how long a tool without an isolate waits for its first result.
import { fileURLToPath } from "node:url";
import { chromium } from "playwright";
import { createServer } from "vite";
import { chromiumArgs, findChromium } from "../../scripts/chromium.mjs";
import { keyhole } from "../../scripts/keyhole-plugin.mjs";

interface Figures {
  readonly bareUs: number;
  readonly isolateUs: number;
  readonly kernelUs: number;
  readonly warmFirstMs: number;
  readonly coldFirstMs: number;
  readonly openedMs: number;
  readonly stalledMs: number;
  readonly answered: number;
  readonly bareBulkMs: number;
  readonly bareKeptMs: number;
  readonly hashMs: number;
  readonly binaryMs: number;
  readonly handedOverMs: number;
  readonly streamMs: number;
  readonly kernelBinaryMs: number;
  readonly kernelHandedOverMs: number;
  readonly kernelStreamMs: number;
  readonly kernelBodyMs: number;
}

const server = await createServer({
  configFile: false,
  root: fileURLToPath(new URL("isolate", import.meta.url)),
  logLevel: "error",
  plugins: [keyhole()],
  resolve: { conditions: ["keyhole-source", "module", "browser", "development|production"] },
  server: { host: "127.0.0.1", port: 8730, fs: { strict: false } },
});
await server.listen();
const executablePath = findChromium();
const browser = await chromium.launch({
  args: chromiumArgs,
  ...(executablePath === undefined ? {} : { executablePath }),
});
try {
  const page = await browser.newPage();
  page.on("pageerror", (error) => {
    console.error(error);
    process.exitCode = 1;
  });
  await page.goto(server.resolvedUrls!.local[0]!);
  const handle = await page.waitForFunction(() => (globalThis as { figures?: unknown }).figures, undefined, {
    timeout: 600_000, // Ends what hangs, and nothing that is slow.
  });
  report((await handle.jsonValue()) as Figures);
} finally {
  await browser.close();
  await server.close();
}

function report(figures: Figures): void {
  const { bareUs, isolateUs, kernelUs, warmFirstMs, coldFirstMs, openedMs, stalledMs, answered } = figures;
  const rows = [
    ["bare postMessage round trip, 1 KB", `${bareUs.toFixed(0)} µs`, ""],
    ["isolate round trip", `${isolateUs.toFixed(0)} µs`, `${(isolateUs / bareUs).toFixed(2)} × bare`],
    ["kernel.call, whole pipeline", `${kernelUs.toFixed(0)} µs`, `${(kernelUs / bareUs).toFixed(2)} × bare`],
    ["first result, warm pair", `${warmFirstMs.toFixed(1)} ms`, ""],
    ["first result, new frame and worker", `${coldFirstMs.toFixed(1)} ms`, ""],
    ["100 isolates opened at once", `${openedMs.toFixed(0)} ms`, `${answered} answered`],
    ["the page's longest standstill by it", `${stalledMs.toFixed(0)} ms`, ""],
    ...bulkRows(figures),
  ];
  for (const [what, figure, note] of rows) console.log(`${what.padEnd(36)} ${figure.padStart(10)}  ${note}`);
}

function bulkRows({
  bareBulkMs,
  bareKeptMs,
  hashMs,
  binaryMs,
  handedOverMs,
  streamMs,
  kernelBinaryMs,
  kernelHandedOverMs,
  kernelStreamMs,
  kernelBodyMs,
}: Figures): (readonly [string, string, string])[] {
  const row = (what: string, ms: number) =>
    [what, `${ms.toFixed(1)} ms`, `${(ms / bareBulkMs).toFixed(2)} × bare`] as const;
  return [
    ["bare transfer, 10 MB", `${bareBulkMs.toFixed(1)} ms`, ""],
    row("the same, its sender keeps the bytes", bareKeptMs),
    row("isolate, bytes that it hands over", handedOverMs),
    row("isolate, bytes that it keeps", binaryMs),
    row("isolate, the same as a stream", streamMs),
    row("kernel.call, bytes that it hands over", kernelHandedOverMs),
    row("kernel.call, bytes that it keeps", kernelBinaryMs),
    row("kernel.call, the same as a stream", kernelStreamMs),
    row("kernel.call, a body of 10 MB", kernelBodyMs),
    row("hash of 10 MB by itself", hashMs),
  ];
}
