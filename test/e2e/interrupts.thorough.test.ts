import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { descendants, listProcesses } from "../../scripts/serve/processes.mjs";
import { root } from "../support/sources.ts";
import { program, removePrograms, toolText } from "../vite/program.ts";
import { untilBuilt } from "./playground/site.ts";

/* Ctrl-C at moments all over the life of each verb: nothing runs on, and each file is whole, as it was, or not there. */

beforeAll(untilBuilt);
afterAll(removePrograms);

const command = [`--import=${root}scripts/source.mjs`, join(root, "packages/keyhole/src/cli.ts")];
const policy = JSON.stringify({ version: "1", posture: "standard", grants: [] });

const folder = program({
  "tools/one.ts": toolText("one"),
  "tools/two.ts": toolText("two"),
  "policy.json": policy,
  "log.jsonl": '{"seq":0,"time":"t","type":"a","callId":null,"payload":{},"prev":"","hash":""}\n'.repeat(20_000),
  "calls.json": '[{"tool":"one","input":{}}]',
  "add.wasm": new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]),
  "client.json": '{"mcpServers":{"a":{"command":"node"}}}',
});

/** The verb, the file that it writes, and how long it is left alone at most; those that stay end by the interrupt alone. */
const verbs: readonly { readonly words: string; readonly out?: string; readonly longestMs?: number }[] = [
  { words: "init node made", out: "made/package.json" },
  { words: "pack tools", out: "dist/one.json" },
  { words: "pack tools --watch", out: "dist/one.json" },
  { words: "run one --record run.keyhole --log audit.jsonl", out: "run.keyhole" },
  { words: "list" },
  { words: "dev" },
  { words: "dev --edge --port 8939 --page-port 8938", longestMs: 12_000 },
  { words: "serve --mcp" },
  { words: "serve --mcp --http 0" },
  { words: "policy check policy.json" },
  { words: "policy compile policy.json --out compiled.json", out: "compiled.json" },
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
  { words: "approve --edge http://127.0.0.1:9" },
];

/** Standing files, and the temporary folders of this command. */
function drafts(): readonly string[] {
  const here = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (path) => !path.startsWith("node_modules") && (path.endsWith(".tmp") || path.startsWith(".made-")),
  );
  const there = readdirSync(tmpdir()).filter((name) => /^keyhole-(?:edge|doctor)-/.test(name));
  return [...here, ...there.map((name) => join(tmpdir(), name))];
}

/** Runs a verb, and interrupts it after a time. @returns how long it ran by itself, where it did */
async function interrupted(
  words: string,
  afterMs: number,
): Promise<{ readonly ranMs: number; readonly ended: boolean }> {
  const startedAtMs = performance.now();
  const child = spawn(process.execPath, [...command, ...words.split(" ")], {
    cwd: folder,
    env: { ...process.env, KEYHOLE_TOKEN: "token" },
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  const closed = once(child, "close");
  const timer = new AbortController();
  const ended = await Promise.race([
    closed.then(() => true),
    new Promise<boolean>((resolve) => {
      const timeout = setTimeout(() => resolve(false), afterMs);
      timer.signal.addEventListener("abort", () => clearTimeout(timeout));
    }),
  ]);
  timer.abort();
  const ranMs = performance.now() - startedAtMs;
  const started = ended ? [] : descendants(child.pid!).map(({ pid }) => pid);
  // As a terminal does it: to the whole group.
  if (!ended) process.kill(-child.pid!, "SIGINT");
  await closed;
  const left = listProcesses().filter(({ pid }) => started.includes(pid));
  expect([words, afterMs, left]).toEqual([words, afterMs, []]);
  return { ranMs, ended };
}

it.each(verbs)("keyhole $words", async ({ words, out, longestMs = 4_000 }) => {
  const before = drafts();
  const whole = await interrupted(words, longestMs);
  const text = out === undefined ? undefined : readFileSync(join(folder, out), "utf8");
  const moments = Array.from({ length: 8 }, (_, at) => Math.round((whole.ranMs * (at + 0.5)) / 8));
  for (const afterMs of moments) {
    rmSync(join(folder, "made"), { recursive: true, force: true });
    if (out !== undefined && !words.startsWith("init")) {
      mkdirSync(join(folder, "dist"), { recursive: true });
      writeFileSync(join(folder, out), "before");
    }
    await interrupted(words, afterMs);
    expect([words, afterMs, drafts()]).toEqual([words, afterMs, before]);
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
