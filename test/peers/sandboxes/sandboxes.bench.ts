/**
 * Keyhole beside what one would take in its place: `npm run bench:peers`. Each figure comes from processes or pages of its own.
 * Prints a table, which `npm run write:benchmarks` puts in the docs, and never fails on a time.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { type Browser, chromium, type Page } from "playwright";
import { build, type InlineConfig, type Plugin, preview } from "vite";
import { chromiumArgs, findChromium } from "../../../scripts/chromium.mjs";
import { keyhole } from "../../../scripts/keyhole-plugin.mjs";
import { HELD, median } from "./sandbox.ts";

const COLD_TURNS = 3;
const STANDSTILL_MS = 5_000;
const PAGE_MS = 120_000;

interface Row {
  readonly name: string;
  readonly where: "Node" | "page";
  readonly label: string;
  /** What a page of it loads. */
  readonly imports?: string;
  /** What it does not do. */
  readonly lacks: string;
}

const rows: readonly Row[] = [
  {
    name: "keyhole",
    where: "page",
    label: "Keyhole, `kernel.call`",
    imports: `import { createKernel } from "@keyhole/kernel"; import { browserHost } from "@keyhole/worker-host/browser"; use(createKernel, browserHost);`,
    lacks: "bound memory or processor time",
  },
  {
    name: "codemode",
    where: "page",
    label: "codemode, `IframeSandboxExecutor`",
    imports: `import { IframeSandboxExecutor } from "@cloudflare/codemode/browser"; use(IframeSandboxExecutor);`,
    lacks:
      "keep an isolate; stop a loop where a frame shares the page's process; bound memory; decide, log or prove a call",
  },
  {
    name: "worker",
    where: "page",
    label: "bare `Worker`",
    lacks: "keep code from network and storage; stop anything by itself; decide, log or prove a call",
  },
  {
    name: "keyhole",
    where: "Node",
    label: "Keyhole, `kernel.call`, interpreter",
    lacks: "run code at the speed of an engine that compiles it",
  },
  {
    name: "keyhole-trusted",
    where: "Node",
    label: "Keyhole, `kernel.call`, trusted thread",
    lacks: "keep code from files, network, processes; bound memory",
  },
  {
    name: "quickjs-emscripten",
    where: "Node",
    label: "quickjs-emscripten, sync",
    lacks: "leave the program's thread free while code runs; compile code; decide, log or prove a call",
  },
  {
    name: "ai-sdk",
    where: "Node",
    label: "`@ai-sdk/code-mode`",
    lacks: "keep an isolate; compile code; run in a page; count fuel; log or prove a call",
  },
  {
    name: "thread",
    where: "Node",
    label: "bare worker thread",
    lacks: "keep code from files, network, processes; stop anything by itself; decide, log or prove a call",
  },
];

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

function inNode(name: string, ...whats: string[]): number[] {
  const source = ["--no-warnings", "--expose-gc", "--import", here("../../../scripts/source.mjs")];
  const printed = execFileSync(process.execPath, [...source, here("in-node.ts"), name, ...whats], { encoding: "utf8" });
  return printed.split(" ").map(Number);
}

const config: InlineConfig = {
  configFile: false,
  root: here("page"),
  logLevel: "error",
  plugins: [keyhole()],
  resolve: { conditions: ["keyhole-source", "module", "browser", "development|production"] },
};
const outDir = mkdtempSync(join(tmpdir(), "sandboxes-"));
await build({ ...config, build: { outDir, emptyOutDir: true, target: "esnext" } });
const server = await preview({ ...config, build: { outDir }, preview: { host: "127.0.0.1", port: 8731 } });
const executablePath = findChromium();

const launch = (): Promise<Browser> =>
  chromium.launch({ args: chromiumArgs, ...(executablePath !== undefined && { executablePath }) });
/** For what no other page can change: a loop and the memory have browsers of their own. */
const shared = await launch();

async function inPage<Result>(browser: Browser, hash: string, use: (page: Page) => Promise<Result>): Promise<Result> {
  const page = await browser.newPage();
  try {
    page.on("pageerror", (error) => {
      console.error(error);
      process.exitCode = 1;
    });
    await page.goto(`${server.resolvedUrls!.local[0]!}#${hash}`, { waitUntil: "commit" });
    return await use(page);
  } finally {
    if (browser === shared) await page.close();
    else await browser.close();
  }
}

/** A figure of a page; `undefined` where the page stands still: a loop in its process keeps it from any answer. */
async function ofPage(name: string, what: string): Promise<number | undefined> {
  return inPage(what === "stop" ? await launch() : shared, `${name}/${what}`, async (page) => {
    for (const endMs = Date.now() + PAGE_MS; Date.now() < endMs; await sleep(20)) {
      const asked = page.evaluate(() => (globalThis as { figure?: number }).figure).catch(() => undefined);
      const answer = await Promise.race([asked.then((figure) => ({ figure })), sleep(STANDSTILL_MS)]);
      if (answer === undefined) return undefined;
      if (answer.figure !== undefined) return answer.figure;
    }
    throw new Error(`${name} gave no figure ${what}.`);
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
  const withIsolates = async (browser: Browser, count: number): Promise<number | undefined> =>
    inPage(browser, `${name}/${count}`, async (page) => {
      await page.waitForFunction(() => (globalThis as { figure?: number }).figure, undefined, { timeout: PAGE_MS });
      await page.requestGC();
      return memoryBytes(browser);
    });
  const [few, many] = [await withIsolates(await launch(), 1), await withIsolates(await launch(), 1 + HELD)];
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
    ...config,
    plugins: [keyhole(), entry],
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

type Figures = readonly [coldMs: number, warmUs: number, stopMs: number | undefined, memoryBytes: number | undefined];

function figuresInNode(name: string): Figures {
  const [cold = NaN, warm = NaN, stop] = inNode(name, "cold", "warm", "stop");
  const colder = Array.from({ length: COLD_TURNS - 1 }, () => inNode(name, "cold")[0]!);
  return [median([cold, ...colder]), warm, stop, inNode(name, "memory")[0]];
}

async function figuresInPage(name: string): Promise<Figures> {
  const cold: number[] = [];
  for (let turn = 0; turn < COLD_TURNS; turn++) cold.push((await ofPage(name, "cold"))!);
  return [median(cold), (await ofPage(name, "warm"))!, await ofPage(name, "stop"), await memoryInPage(name)];
}

const show = (value: number | undefined, by: number, unit: string, otherwise = "–"): string =>
  value === undefined ? otherwise : `${(value / by).toFixed(value / by < 10 ? 1 : 0)} ${unit}`;

console.log(
  "| Sandbox | Where | First result | Warm call, 1 KB | Stop, after its limit | Memory each | Loaded, gzip | Does not |",
);
console.log("| --- | --- | --- | --- | --- | --- | --- | --- |");
for (const row of rows) {
  const { name, imports, where } = row;
  const [coldMs, warmUs, stopMs, memory] = where === "Node" ? figuresInNode(name) : await figuresInPage(name);
  const size = imports === undefined ? undefined : await gzipBytes(imports);
  const cells = [
    row.label,
    where,
    show(coldMs, 1, "ms"),
    warmUs < 10_000 ? show(warmUs, 1, "µs") : show(warmUs, 1e3, "ms"),
    show(stopMs, 1, "ms", `never: the page stands still for ${STANDSTILL_MS / 1_000} s and more`),
    show(memory, 1e6, "MB"),
    show(size, 1e3, "KB"),
    row.lacks,
  ];
  console.log(`| ${cells.join(" | ")} |`);
}
await shared.close();
await server.close();
rmSync(outDir, { recursive: true });
