import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { freePorts } from "../../scripts/serve/ports.mjs";
import { descendants, listProcesses } from "../../scripts/serve/processes.mjs";
import { root } from "../support/sources.ts";
import { program, removePrograms, toolText } from "../vite/program.ts";
import { untilBuilt } from "./playground/site.ts";

/* Ctrl-C at steps all over the life of each verb: nothing runs on, and each file is whole, as it was, or not there. */

const folder = program({
  "tools/one.ts": toolText("one"),
  "tools/two.ts": toolText("two"),
  "policy.json": JSON.stringify({ version: "1", posture: "standard", grants: [] }),
  "log.jsonl": '{"seq":0,"time":"t","type":"a","callId":null,"payload":{},"prev":"","hash":""}\n'.repeat(20_000),
  "calls.json": '[{"tool":"one","input":{}}]',
  "add.wasm": new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]),
  "client.json": '{"mcpServers":{"a":{"command":"node"}}}',
});
const temporary = join(folder, "temporary");
mkdirSync(temporary);

/** Takes each request, and answers none. */
const silent = createServer(() => silent.emit("asked"));
let ports: readonly number[] = [];
beforeAll(async () => {
  silent.listen(0, "127.0.0.1");
  await once(silent, "listening");
  ports = [...(await freePorts(2)), (silent.address() as AddressInfo).port];
});
afterAll(() => {
  silent.close();
  removePrograms();
});

interface Verb {
  readonly words: string;
  /** Writes its input. */
  readonly after?: string;
  /** The file that it writes. */
  readonly out?: string;
  /** Matches the output of a verb that stays, when it has all that it waits with; "asked" at the request that nothing answers. */
  readonly rest?: RegExp | "asked";
}

const verbs: readonly Verb[] = [
  { words: "init node made", out: "made/package.json" },
  { words: "pack tools", out: "dist/one.json" },
  { words: "pack tools --watch", out: "dist/one.json", rest: /two@1\.0\.0[^]*isolate/ },
  { words: `run one --input {"name":"Ada"} --record run.keyhole --log audit.jsonl`, out: "run.keyhole" },
  { words: "replay day.keyhole", after: `run one --input {"name":"Ada"} --record day.keyhole` },
  { words: "list" },
  { words: "dev", rest: /two@1\.0\.0/ },
  { words: "dev --edge --port PORT0 --page-port PORT1", rest: /^ready$/m },
  { words: "serve --mcp", rest: /serverInfo/ },
  { words: "serve --mcp --http 0", rest: /token of the caller/ },
  { words: `wrap --name rude --home home -- node ${root}test/node/mcp-server.ts`, rest: /serverInfo/ },
  { words: "policy check policy.json" },
  { words: "policy explain policy.json --tool one" },
  { words: "policy simulate policy.json calls.json" },
  { words: "policy diff policy.json policy.json" },
  { words: "policy suggest log.jsonl" },
  { words: "verify log.jsonl" },
  { words: "log show log.jsonl" },
  { words: "log export log.jsonl --format csv --out out.csv", out: "out.csv" },
  { words: "meter add.wasm --out metered.wasm", out: "metered.wasm" },
  { words: "doctor" },
  { words: "import mcp-config client.json --out wrapped.json", out: "wrapped.json" },
  { words: "approve --edge http://127.0.0.1:PORT2", rest: "asked" },
];

const command = [
  `--import=${root}scripts/source.mjs`,
  `--import=${new URL("interrupts/at-step.mjs", import.meta.url).href}`,
  join(root, "packages/keyhole/src/cli.ts"),
];
const clientInfo = { name: "client", version: "1" };
const hello = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo },
};

interface Run {
  /** That it took until it ended; `undefined` where the interrupt ended it at once. */
  readonly steps: number | undefined;
  readonly said: string;
}

/** Runs a verb to its end or, where it stays, until it rests; interrupts it there, or at a step before. */
async function run({ words, rest }: Verb, step?: number): Promise<Run> {
  const typed = words.replace(/PORT(\d)/g, (_, at: string) => String(ports[Number(at)])).split(" ");
  const child = spawn(process.execPath, [...command, ...typed], {
    cwd: folder,
    env: {
      ...process.env,
      TMPDIR: temporary,
      // The sources are compiled once, and not once a run.
      NODE_COMPILE_CACHE: join(folder, "compiled"),
      KEYHOLE_TOKEN: "token",
      ...(step !== undefined && { KEYHOLE_INTERRUPT_AT: String(step) }),
    },
    stdio: ["pipe", "pipe", "pipe", "pipe"],
    detached: true,
  });
  const [input, output, faults, reports] = child.stdio as [NodeJS.WritableStream, ...NodeJS.ReadableStream[]];
  input.on("error", () => {}).write(`${JSON.stringify(hello)}\n`);
  let said = "";
  const started = new Set<number>();
  const interrupt = (): void => {
    for (const { pid } of descendants(child.pid!)) started.add(pid);
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, "SIGINT");
  };
  let isResting = false;
  const settle = (): void => {
    if (!isResting) interrupt();
    isResting = true;
  };
  for (const stream of [output, faults])
    stream!.setEncoding("utf8").on("data", (chunk: string) => {
      said += chunk;
      if (rest instanceof RegExp && rest.test(said)) settle();
    });
  if (rest === "asked") silent.once("asked", settle);
  const told = textOf(reports!);
  await once(child, "close");
  silent.removeAllListeners("asked");
  let steps: number | undefined;
  for (const line of (await told).split("\n").filter(Boolean)) {
    const report = JSON.parse(line) as { readonly steps?: number; readonly started?: readonly number[] };
    steps ??= report.steps;
    for (const pid of report.started ?? []) started.add(pid);
  }
  // The keeper ends the others, and itself, when the command is gone.
  const left = (): readonly object[] => listProcesses().filter(({ pid }) => started.has(pid));
  await expect.poll(left, { message: `${words} ${step}` }).toEqual([]);
  return { steps, said };
}

/** First, last, and two steps between. */
function spread(steps: number): readonly number[] {
  return [...new Set([0, 1, 2, 3].map((at) => Math.round(1 + ((steps - 1) * at) / 3)))];
}

/** Files that a verb leaves behind beside its own. */
function drafts(): readonly string[] {
  return [
    ...readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
      (path) => !path.startsWith("node_modules") && (path.endsWith(".tmp") || path.startsWith(".made-")),
    ),
    ...readdirSync(temporary),
  ];
}

it.each(verbs)("keyhole $words", async (verb) => {
  const { words, out, after } = verb;
  if (after !== undefined) await run({ words: after });
  if (words.includes("--edge --port")) await untilBuilt(); // It serves the page.
  const whole = await run(verb);
  expect(whole.steps, whole.said).toBeGreaterThan(0);
  const text = out === undefined ? undefined : readFileSync(join(folder, out), "utf8");
  for (const step of spread(whole.steps!)) {
    rmSync(join(folder, "made"), { recursive: true, force: true });
    if (out !== undefined && !words.startsWith("init")) writeFileSync(join(folder, out), "before");
    await run(verb, step);
    expect({ words, step, drafts: drafts() }).toEqual({ words, step, drafts: [] });
    const found = out === undefined ? undefined : readText(join(folder, out));
    // A recorded run holds times.
    if (out === "run.keyhole" && found !== "before") expect(found?.endsWith("\n") ?? true).toBe(true);
    else if (out !== undefined) expect([undefined, "before", text]).toContain(found);
    if (words.startsWith("init")) expect(found).toBe(readText(join(folder, "made/README.md")) && text);
  }
});

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
