import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { freePorts } from "../../scripts/serve/ports.mjs";
import { descendants, listProcesses } from "../../scripts/serve/processes.mjs";
import { root } from "../support/sources.ts";
import { program, removePrograms, toolText } from "../vite/program.ts";
import { untilBuilt } from "./playground/site.ts";

/* `keyhole dev --edge` as a person uses it: their folder of tools, a client over HTTP, and the command that approves. */

/** Answers nobody: no verb may wait for it. */
const registry = createServer();
let asked = 0;
registry.on("connection", () => asked++);
beforeAll(async () => {
  registry.listen(0, "127.0.0.1");
  await once(registry, "listening");
  env["npm_config_registry"] = `http://127.0.0.1:${(registry.address() as AddressInfo).port}/`;
  await untilBuilt(); // The sandbox is built with the service.
});
afterAll(() => {
  registry.close();
  removePrograms();
});

const template = join(root, "packages/keyhole/templates/any");
const command = [`--import=${root}scripts/source.mjs`, join(root, "packages/keyhole/src/cli.ts")];
const env: NodeJS.ProcessEnv = { ...process.env, KEYHOLE_TOKEN: "own-token" };

interface Started {
  readonly child: ChildProcess;
  /** Both outputs. */
  said(): string;
  /** Standard output alone. */
  answered(): string;
}

function start(folder: string, ...words: readonly string[]): Started {
  const child = spawn(process.execPath, [...command, ...words], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  let answer = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  child.stdout.on("data", (chunk: string) => (answer += chunk));
  return { child, said: () => text, answered: () => answer };
}

async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 50));
}

it("a folder of tools is served, takes changes, waits for keyhole approve, and leaves no process", async () => {
  const folder = program({
    "tools/save-note.ts": readFileSync(join(template, "tools/save-note.ts"), "utf8"),
    "tools/greet.ts": toolText("greet", "({ name }) => `Hello ${name}`"),
    "policy.json": readFileSync(join(template, "policy.json"), "utf8"),
  });
  const [port = 0, pagePort = 0] = await freePorts(2);
  const url = `http://127.0.0.1:${port}`;
  const { child, said, answered } = start(folder, "dev", "--edge", `--port=${port}`, `--page-port=${pagePort}`);
  const starts = (): number => answered().split("\nready\n").length - 1;
  const headers = { authorization: "Bearer own-token", "content-type": "application/json" };
  const call = async (name: string, input: object): Promise<object> =>
    (
      await fetch(`${url}/v1/tools/${name}/calls`, { method: "POST", headers, body: JSON.stringify({ input }) })
    ).json() as Promise<object>;
  await until(() => starts() === 1 || child.exitCode !== null);
  expect(answered()).toContain(`  edge   ${url}\n  token  own-token\n`);
  const link = new URL(/ {2}page {3}(\S+)/.exec(answered())![1]!);
  expect(new URLSearchParams(link.hash.slice(1)).get("token")).toBe("own-token");
  expect(await (await fetch(link)).text()).toContain("<title>");
  expect(await call("greet", { name: "Ada" })).toMatchObject({ ok: true, data: "Hello Ada" });
  const note = { path: "diary/today.txt", text: "Rain." };
  expect(await call("save_note", note)).toMatchObject({ code: "CAPABILITY_DENIED" });

  const policy = readFileSync(join(folder, "policy.json"), "utf8").replace('["notes/**"]', '["notes/**", "diary/**"]');
  writeFileSync(join(folder, "policy.json"), policy);
  writeFileSync(join(folder, "tools/greet.ts"), toolText("greet", "({ name }) => `Salve ${name}`"));
  await until(async () => JSON.stringify(await call("greet", { name: "Ada" }).catch(() => "")).includes("Salve"));
  writeFileSync(join(folder, "tools/greet.ts"), "export default {");
  await until(() => said().includes("✗ tools/greet.ts: "));
  expect(await call("greet", { name: "Ada" })).toMatchObject({ ok: true, data: "Salve Ada" });

  const calling = call("save_note", note);
  const approve = async (...words: readonly string[]): Promise<{ code: number; output: string }> => {
    const running = start(folder, "approve", "--edge", url, ...words);
    const [code] = (await once(running.child, "close")) as [number];
    return { code, output: running.answered() };
  };
  let waiting: readonly { readonly approvalId: string }[] = [];
  await until(async () => {
    ({ approvals: waiting } = JSON.parse((await approve("--json")).output) as { approvals: typeof waiting });
    return waiting.length > 0;
  });
  expect((await approve()).output).toContain('  /path: "diary/today.txt"\n  /text: "Rain."\n');
  expect(await approve(waiting[0]!.approvalId, "--yes")).toMatchObject({ code: 0 });
  expect(await calling).toMatchObject({ ok: true });

  const started = descendants(child.pid!).map(({ pid }) => pid);
  expect(started.length).toBeGreaterThan(3);
  child.kill("SIGINT");
  expect(await once(child, "close")).toEqual([130, null]);
  const left = new Set(listProcesses().map(({ pid }) => pid));
  expect(started.filter((pid) => left.has(pid))).toEqual([]);
  expect(asked).toBe(0);
});
