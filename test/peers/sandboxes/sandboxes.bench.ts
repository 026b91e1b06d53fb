/**
 * Keyhole beside what one would take in its place: `npm run bench:peers`. Each figure comes from processes or pages of its own.
 * Prints a table, which `npm run write:benchmarks` puts in the docs, and never fails on a time.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { type Browser, chromium, type Page } from "playwright";
import { build, createServer, type Plugin } from "vite";
import { chromiumArgs, findChromium } from "../../../scripts/chromium.mjs";
import { keyhole } from "../../../scripts/keyhole-plugin.mjs";
import { HELD, median } from "./sandbox.ts";

const COLD_TURNS = 5;
const STANDSTILL_MS = 5_000;

interface Row {
  readonly name: string;
  readonly where: "Node" | "page";
  readonly label: string;
  /** What a page of it loads. */
  readonly imports?: string;
  readonly lacks: string;
}

const rows: readonly Row[] = [
  {
    name: "keyhole",
    where: "page",
    label: "Keyhole, `kernel.call`",
    imports: `import { createFullKernel } from "@keyhole/kernel"; import { browserHost } from "@keyhole/worker-host/browser"; use(createFullKernel, browserHost);`,
    lacks: "–",
  },
  {
    name: "codemode",
    where: "page",
    label: "codemode, `IframeSandboxExecutor`",
    imports: `import { IframeSandboxExecutor } from "@cloudflare/codemode/browser"; use(IframeSandboxExecutor);`,
    lacks: "stop a loop; keep an isolate; policy, log, bounds",
  },
  {
    name: "worker",
    where: "page",
    label: "bare `Worker`",
    lacks: "keep code from network and storage; limits of any kind",
  },
  { name: "keyhole", where: "Node", label: "Keyhole, `kernel.call`, interpreter", lacks: "–" },
  {
    name: "keyhole-trusted",
    where: "Node",
    label: "Keyhole, `kernel.call`, trusted thread",
    lacks: "a boundary for the code",
  },
  {
    name: "quickjs-emscripten",
    where: "Node",
    label: "quickjs-emscripten, sync",
    lacks: "a thread of its own: a loop stops the program until its deadline; policy, log",
  },
  { name: "ai-sdk", where: "Node", label: "`@ai-sdk/code-mode`", lacks: "keep an isolate; log, proof, fuel" },
  { name: "thread", where: "Node", label: "bare worker thread", lacks: "keep code from files, network, processes" },
];

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

function inNode(name: string, what: string): number {
  const source = ["--no-warnings", "--expose-gc", "--import", here("../../../scripts/source.mjs")];
  return Number(execFileSync(process.execPath, [...source, here("in-node.ts"), name, what], { encoding: "utf8" }));
}

const server = await createServer({
  configFile: false,
  root: here("page"),
  logLevel: "error",
  plugins: [keyhole()],
  resolve: { conditions: ["keyhole-source", "module", "browser", "development|production"] },
  server: { host: "127.0.0.1", port: 8731, fs: { strict: false } },
});
await server.listen();
const executablePath = findChromium();

async function inPage<Result>(hash: string, use: (page: Page, browser: Browser) => Promise<Result>): Promise<Result> {
  const browser = await chromium.launch({
    args: chromiumArgs,
    ...(executablePath !== undefined && { executablePath }),
  });
  try {
    const page = await browser.newPage();
    page.on("pageerror", (error) => {
      console.error(error);
      process.exitCode = 1;
    });
    await page.goto(`${server.resolvedUrls!.local[0]!}#${hash}`, { waitUntil: "commit" });
    return await use(page, browser);
  } finally {
    await browser.close();
  }
}

/** A figure of a page; `undefined` where the page stands still. */
function ofPage(name: string, what: string): Promise<number | undefined> {
  return inPage(`${name}/${what}`, async (page) => {
    // The page itself cannot answer while a loop runs in its process: a clock outside decides.
    const limitMs = what === "stop" ? STANDSTILL_MS : 600_000;
    try {
      const handle = await page.waitForFunction(() => (globalThis as { figure?: number }).figure, undefined, {
        timeout: limitMs,
      });
      return await handle.jsonValue();
    } catch (error) {
      if (what === "stop") return undefined;
      throw error;
    }
  });
}

/** Of all processes of a browser, shared pages counted once; `undefined` where the system does not say. */
async function memoryBytes(browser: Browser): Promise<number | undefined> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  await session.detach();
  try {
    const kilobytes = processInfo.map(({ id }) =>
      Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${id}/smaps_rollup`, "utf8"))![1]),
    );
    return kilobytes.reduce((sum, each) => sum + each, 0) * 1_024;
  } catch {
    return undefined;
  }
}

async function memoryInPage(name: string): Promise<number | undefined> {
  const withIsolates = async (count: number): Promise<number | undefined> =>
    inPage(`${name}/${count}`, async (page, browser) => {
      await page.waitForFunction(() => (globalThis as { figure?: number }).figure, undefined, { timeout: 600_000 });
      await page.requestGC();
      return memoryBytes(browser);
    });
  const [few, many] = [await withIsolates(1), await withIsolates(1 + HELD)];
  return few === undefined || many === undefined ? undefined : (many - few) / HELD;
}

/** What a page loads, minified and in gzip. */
async function gzipBytes(imports: string): Promise<number> {
  const entry: Plugin = {
    name: "entry",
    resolveId: (id) => (id === "virtual:entry" ? here("page/entry.ts") : undefined),
    load: (id) =>
      id === here("page/entry.ts") ? imports.replace(/use\((.*)\);/, "globalThis.used = [$1];") : undefined,
  };
  const built = await build({
    configFile: false,
    root: here("page"),
    logLevel: "error",
    plugins: [keyhole(), entry],
    resolve: { conditions: ["keyhole-source", "module", "browser", "development|production"] },
    build: { write: false, rolldownOptions: { input: "virtual:entry" } },
  });
  const files = [built].flat().flatMap((each) => ("output" in each ? each.output : []));
  const isFirst = (file: (typeof files)[number]): boolean => file.type === "chunk" && file.isEntry;
  const wanted = new Set(
    files.filter(isFirst).flatMap((file) => [file.fileName, ...("imports" in file ? file.imports : [])]),
  );
  return files
    .filter(({ fileName }) => wanted.has(fileName))
    .reduce((sum, file) => sum + gzipSync("code" in file ? file.code : file.source, { level: 9 }).length, 0);
}

async function figuresOf({ name, where, imports }: Row): Promise<readonly (number | undefined)[]> {
  const figure = (what: string): Promise<number | undefined> | number =>
    where === "Node" ? inNode(name, what) : ofPage(name, what);
  const cold: number[] = [];
  for (let turn = 0; turn < COLD_TURNS; turn++) cold.push((await figure("cold"))!);
  const memory = where === "Node" ? inNode(name, "memory") : await memoryInPage(name);
  const size = imports === undefined ? undefined : await gzipBytes(imports);
  return [median(cold), await figure("warm"), await figure("stop"), memory, size];
}

const show = (value: number | undefined, by: number, unit: string, otherwise = "–"): string =>
  value === undefined ? otherwise : `${(value / by).toFixed(value / by < 10 ? 1 : 0)} ${unit}`;

console.log(
  "| Sandbox | Where | First result | Warm call, 1 KB | Stop, after its limit | Memory each | Loaded, gzip | Does not |",
);
console.log("| --- | --- | --- | --- | --- | --- | --- | --- |");
for (const row of rows) {
  const [coldMs, warmUs, stopMs, memory, size] = await figuresOf(row);
  const cells = [
    row.label,
    row.where,
    show(coldMs, 1, "ms"),
    show(warmUs, 1, "µs"),
    show(stopMs, 1, "ms", `never: the page stands still for ${STANDSTILL_MS / 1_000} s and more`),
    show(memory, 1e6, "MB"),
    show(size, 1e3, "KB"),
    row.lacks,
  ];
  console.log(`| ${cells.join(" | ")} |`);
}
await server.close();
