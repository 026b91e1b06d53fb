import { type ChildProcess, execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePorts } from "../../../scripts/serve/ports.mjs";
import { descendants } from "../../../scripts/serve/processes.mjs";
import { readPage } from "../../docs/markdown.ts";
import { packedApp, removePackedApps } from "../../support/packed-app.ts";
import { root } from "../../support/sources.ts";

/* A Worker of one's own, with the files that docs/how-to/own-edge.md shows, outside of this repository. */

const run = promisify(execFile);

const { blocks } = readPage("docs/how-to/own-edge.md");
const shown = (holds: string): string => {
  const block = blocks.find(({ text }) => text.includes(holds));
  if (block === undefined) throw new Error(`docs/how-to/own-edge.md shows no ${holds}`);
  return block.text;
};

const greet = `import { defineTool } from "@keyhole/kernel/tool";
export default defineTool({
  name: "greet", version: "1.0.0", description: "Greets.",
  input: { type: "object", properties: { name: { type: "string" } }, required: ["name"], additionalProperties: false },
  output: { kind: "text" }, execute: ({ name }) => { while (name === "spin"); return \`Hello, \${name}!\`; },
});
`;

const plain = shown("export class KernelObject extends Configured");
const wrangler = shown('main = "dist/worker.js"');
/** Where there are no dynamic Workers tools run in the interpreter, as a section of the page shows it. */
const interpreter = {
  "worker.ts": `import { builtEngine } from "@keyhole/worker-host/wasm/interpreter";
import quickJs from "keyhole:quickjs-wasi/quickjs.wasm?metered";
${plain.replace("tools: [", "engine: builtEngine(quickJs), tools: [")}`,
  "wrangler.toml": wrangler.replace('[[worker_loaders]]\nbinding = "LOADER"\n', ""),
};

afterAll(removePackedApps);

/** The command of the package, as a person runs it in the program's folder. */
interface Dev {
  readonly url: string;
  readonly process: ChildProcess;
  readonly ended: Promise<unknown>;
}

async function startDev(app: string): Promise<Dev> {
  const [port = 0] = await freePorts(1);
  const command = join(app, "node_modules/@keyhole/edge/dist/dev/cli.js");
  const child = spawn(process.execPath, [command, "dev", "--port", String(port)], {
    cwd: app,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "exit");
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (said += text));
  while (!said.includes("Ctrl-C ends everything.") && child.exitCode === null) await delay(50);
  if (child.exitCode !== null) throw new Error(said);
  return { url: `http://127.0.0.1:${port}`, process: child, ended };
}

describe.each([
  ["in dynamic Workers", { "worker.ts": plain, "wrangler.toml": wrangler }, "TIMEOUT"],
  ["in the interpreter", interpreter, "OUT_OF_FUEL"],
])("an edge of one's own, with its tools %s", (_, files, spun) => {
  let dev: Dev;
  beforeAll(async () => {
    const tokens = { [createHash("sha256").update("token").digest("hex")]: { subject: "a", scopes: ["tools:call"] } };
    const app = packedApp({
      ...files,
      // Beside the configuration, as wrangler reads it.
      ".dev.vars": `KEYHOLE_TOKENS='${JSON.stringify(tokens)}'\n`,
      "vite.config.ts": shown("// vite.config.ts"),
      "greet.ts": greet,
    });
    await run(process.execPath, [join(root, "node_modules/vite/bin/vite.js"), "build"], { cwd: app });
    dev = await startDev(app);
  });
  afterAll(async () => {
    dev?.process.kill("SIGTERM");
    await dev?.ended;
  });

  const call = async (input: object): Promise<unknown> => {
    const response = await fetch(`${dev.url}/v1/tools/greet/calls`, {
      method: "POST",
      headers: { authorization: "Bearer token", "content-type": "application/json" },
      body: JSON.stringify({ input, bounds: { timeoutMs: 2_000 } }),
    });
    return response.json();
  };

  it("serves a call of its own tool", async () => {
    expect(await call({ name: "Ada" })).toMatchObject({ ok: true, data: "Hello, Ada!" });
  });

  it("outlives a tool that spins", async () => {
    const spinning = call({ name: "spin" });
    expect((await fetch(`${dev.url}/livez`)).status).toBe(200);
    expect(await spinning).toMatchObject({ code: spun });
    await expect.poll(() => call({ name: "Ada" })).toMatchObject({ ok: true });
  });

  it("serves again after the death of each part", async () => {
    for (const { pid, command } of descendants(dev.process.pid!))
      if (/workerd/.test(command)) process.kill(pid, "SIGKILL");
    await expect.poll(() => call({ name: "Ada" }).catch(() => undefined)).toMatchObject({ ok: true });
  });
});
