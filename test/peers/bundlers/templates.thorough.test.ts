import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { afterAll, describe, expect, it } from "vitest";
import { freePorts } from "../../../scripts/serve/ports.mjs";
import { launch, newContext, noteComplaints } from "../../e2e/playground/visitor.ts";
import { root } from "../../support/sources.ts";
import { called, clickedInHaste } from "./template-page.ts";
import { ended, removeTemplateApps, type TemplateApp, templateApp } from "./template-app.ts";

/* Each template as a newcomer takes it, with the packages of a registry that has the tarballs: from init to a call, a refusal, another policy, an approval and a verified log. */

afterAll(removeTemplateApps);

/** Its types, its own tests, and what the command says of its policy. */
async function expectSound({ folder, program, keyhole, run }: TemplateApp, packages: string): Promise<void> {
  expect(await keyhole(["pack", "tools", "-o", packages])).toMatchObject({ code: 0 });
  // Two of the templates come without a compiler: Node runs their files as they are.
  const own = program("typescript/bin/tsc");
  const compiler = existsSync(own) ? own : join(root, "node_modules/typescript/bin/tsc");
  expect(await run(compiler, "-p", ".")).toMatchObject({ code: 0, said: "" });
  expect((await run("--test")).said).toMatch(/pass 3$/m);
  expect((await keyhole(["policy", "check", "policy.json"])).code).toBe(0);
  expect(existsSync(join(folder, ".gitignore"))).toBe(true);
}

function grantDiary({ folder }: TemplateApp): void {
  const policy = join(folder, "policy.json");
  writeFileSync(policy, readFileSync(policy, "utf8").replace('["notes/**"]', '["notes/**", "diary/**"]'));
}

/** The last step. */
async function expectLog({ keyhole, report }: TemplateApp, completed: number): Promise<void> {
  expect(await keyhole(["verify", "audit.jsonl"])).toMatchObject({
    code: 3,
    said: expect.stringMatching(/^✓ log /) as string,
  });
  const shown = (await keyhole(["log", "show", "audit.jsonl", "--type", "tool.completed"])).output;
  expect(shown.trim().split("\n")).toHaveLength(completed);
  report();
}

const note = { path: "diary/today.txt", text: "Rain." };

describe("the template node", () => {
  it("leads from init to a verified log", async () => {
    const app = await templateApp("node");
    await expectSound(app, "dist");
    const call = (name: string, input: object, typed?: string) =>
      ended(app.folder, ["src/main.ts", name, JSON.stringify(input)], { typed });
    expect((await call("word_count", { text: "Water the plants." })).said).toBe("{ words: 3 }\n");
    expect(await call("save_note", note, "yes\n")).toMatchObject({
      code: 1,
      said: expect.stringContaining("code: 'CAPABILITY_DENIED'") as string,
    });
    grantDiary(app);
    expect((await call("save_note", note, "no\n")).said).toContain("code: 'APPROVAL_DENIED'");
    expect((await call("save_note", note)).said).toContain("code: 'APPROVAL_DENIED'");
    expect((await call("save_note", note, "yes\n")).said).toContain("Saved 5 characters to diary/today.txt.");
    expect(readFileSync(join(app.folder, "workspace/diary/today.txt"), "utf8")).toBe("Rain.");
    await expectLog(app, 2);
  });
});

/** Builds the page and serves it as the template does, with its header. */
async function withServed(
  { folder, program, run }: TemplateApp,
  use: (origin: string, built: string) => Promise<void>,
): Promise<void> {
  const vite = program("vite/bin/vite.js");
  const built = await run(vite, "build");
  expect(built.code).toBe(0);
  const [port = 0] = await freePorts(1);
  const words = [vite, "preview", "--host", "127.0.0.1", "--port", String(port), "--strictPort"];
  const server = spawn(process.execPath, words, { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  try {
    for await (const line of createInterface(server.stdout)) if (line.includes(String(port))) break;
    await use(`http://127.0.0.1:${port}`, built.said);
  } finally {
    server.kill();
    await once(server, "exit");
  }
}

describe("the template vite-react", () => {
  it("leads from init to a verified log, in a page under the header that the build prints", async () => {
    const app = await templateApp("vite-react");
    await expectSound(app, "packages");
    const browser = await launch();
    const page = await (await newContext(browser)).newPage();
    const complaints: string[] = [];
    noteComplaints(page, (text) => complaints.push(text));
    await withServed(app, async (origin, built) => {
      const header = (await page.goto(origin))!.headers()["content-security-policy"];
      expect(built).toContain(`Content-Security-Policy: ${header}`);
      expect(await called(page, "word_count", { text: "Water the plants." })).toEqual({ words: 3 });
      expect(await called(page, "save_note", note)).toMatchObject({ code: "CAPABILITY_DENIED" });
    });
    grantDiary(app);
    await withServed(app, async (origin) => {
      await page.goto(origin);
      expect(await called(page, "save_note", note, "Deny")).toMatchObject({ code: "APPROVAL_DENIED" });
      await clickedInHaste(page, note);
      expect(await called(page, "save_note", note, "Allow once")).toBe("Saved 5 characters to diary/today.txt.");
      const downloading = page.waitForEvent("download");
      await page.getByRole("button", { name: "Save log" }).click();
      await (await downloading).saveAs(join(app.folder, "audit.jsonl"));
    });
    await browser.close();
    await expectLog(app, 1); // Another port is another origin, with a log of its own.
    expect(complaints).toEqual([]);
  });
});

/** Serves the folder as the template does. */
async function withStatic({ folder, run }: TemplateApp, use: (origin: string) => Promise<void>): Promise<void> {
  expect((await run("build.ts")).said).toContain("Content-Security-Policy: default-src 'none'");
  const [port = 0] = await freePorts(1);
  const env = { ...process.env, PORT: String(port) };
  const server = spawn(process.execPath, ["serve.ts"], { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"] });
  try {
    for await (const line of createInterface(server.stdout)) if (line.includes(String(port))) break;
    await use(`http://127.0.0.1:${port}`);
  } finally {
    server.kill();
    await once(server, "exit");
  }
}

describe("the template static-html", () => {
  it("leads from init to a verified log, in a page without a bundler under a strict policy", async () => {
    const app = await templateApp("static-html");
    await expectSound(app, "packages");
    const browser = await launch();
    const page = await (await newContext(browser)).newPage();
    const complaints: string[] = [];
    noteComplaints(page, (text) => complaints.push(text));
    await withStatic(app, async (origin) => {
      const header = (await page.goto(origin))!.headers()["content-security-policy"];
      expect(header).toContain("default-src 'none'; script-src 'self' 'sha256-");
      expect(await called(page, "word_count", { text: "Water the plants." })).toEqual({ words: 3 });
      expect(await called(page, "save_note", note)).toMatchObject({ code: "CAPABILITY_DENIED" });
    });
    grantDiary(app);
    await withStatic(app, async (origin) => {
      await page.goto(origin);
      expect(await called(page, "save_note", note, "Deny")).toMatchObject({ code: "APPROVAL_DENIED" });
      await clickedInHaste(page, note);
      expect(await called(page, "save_note", note, "Allow once")).toBe("Saved 5 characters to diary/today.txt.");
      const downloading = page.waitForEvent("download");
      await page.getByRole("button", { name: "Save log" }).click();
      await (await downloading).saveAs(join(app.folder, "audit.jsonl"));
    });
    await browser.close();
    await expectLog(app, 1); // Another port is another origin, with a log of its own.
    expect(complaints).toEqual([]);
  });
});

describe("the template worker", () => {
  it("leads from init to a verified log, over HTTP", async () => {
    const app = await templateApp("worker");
    const { folder, program, run } = app;
    await expectSound(app, "packages");
    expect(await run(program("typescript/bin/tsc"), "-p", "test")).toMatchObject({ code: 0, said: "" });
    grantDiary(app);
    expect((await run(program("vite/bin/vite.js"), "build")).code).toBe(0);
    const [port = 0] = await freePorts(1);
    const words = [program("@keyhole/edge/dist/dev/cli.js"), "dev", "--port", String(port)];
    const edge = spawn(process.execPath, words, { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
    try {
      let token = "";
      for await (const line of createInterface(edge.stdout)) {
        token = /^ *token +(\S+)/.exec(line)?.[1] ?? token;
        if (line.startsWith("Ctrl-C")) break;
      }
      const env = { ...process.env, EDGE: `http://127.0.0.1:${port}`, TOKEN: token };
      const call = (name: string, input: object, typed?: string) =>
        ended(folder, ["client/main.ts", name, JSON.stringify(input)], { typed, env });
      expect((await call("word_count", { text: "Water the plants." })).said).toBe("{ words: 3 }\n");
      expect((await call("save_note", { ...note, path: "secrets/key.txt" })).said).toContain(
        "code: 'CAPABILITY_DENIED'",
      );
      expect((await call("save_note", note, "no\n")).said).toContain("code: 'APPROVAL_DENIED'");
      expect((await call("save_note", note, "yes\n")).said).toContain("Saved 5 characters to diary/today.txt.");
      await expectApproved(app, env, note);
      const strange = { ...env, TOKEN: "none-of-the-edge" };
      expect((await ended(folder, ["client/log.ts"], { env: strange })).said).toMatch(/^UNAUTHENTICATED: /);
      expect((await ended(folder, ["client/log.ts"], { env })).said).toMatch(/^\d+ events written/);
    } finally {
      edge.kill();
      await once(edge, "exit");
    }
    await expectLog(app, 3);
  });
});

/** Another program calls, and the person answers with the command. */
async function expectApproved({ keyhole }: TemplateApp, env: NodeJS.ProcessEnv, input: object): Promise<void> {
  const { EDGE = "", TOKEN = "" } = env;
  const approve = (...words: readonly string[]) =>
    keyhole(["approve", ...words, "--edge", EDGE, "--json"], { ...env, KEYHOLE_TOKEN: TOKEN });
  const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
  const body = JSON.stringify({ input });
  const calling = fetch(`${EDGE}/v1/tools/save_note/calls`, { method: "POST", headers, body });
  for (;;) {
    const [waiting] = (JSON.parse((await approve()).output) as { approvals: { approvalId: string }[] }).approvals;
    if (waiting === undefined) continue;
    expect(await approve(waiting.approvalId, "--yes")).toMatchObject({ code: 0 });
    break;
  }
  expect(await (await calling).json()).toMatchObject({ ok: true, data: "Saved 5 characters to diary/today.txt." });
}

/** An MCP client that starts the server, as an editor does. */
class StdioClient {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #lines: AsyncIterator<string>;
  readonly #notes: AsyncIterator<string>;
  #id = 0;
  constructor(folder: string) {
    this.#child = spawn(process.execPath, ["src/main.ts"], { cwd: folder, stdio: ["pipe", "pipe", "pipe"] });
    this.#lines = createInterface(this.#child.stdout)[Symbol.asyncIterator]();
    this.#notes = createInterface(this.#child.stderr)[Symbol.asyncIterator]();
  }

  /** The address that the server writes for people. */
  async approvals(): Promise<string> {
    for (;;) {
      const { value, done } = await this.#notes.next();
      if (done === true) throw new Error("The server has ended.");
      const [, url] = /^Approvals: (\S+)$/.exec(value) ?? [];
      if (url !== undefined) return url;
    }
  }

  notify(method: string): void {
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method })}\n`);
  }

  async ask(method: string, params: object): Promise<string> {
    const id = ++this.#id;
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    for (;;) {
      const { value, done } = await this.#lines.next();
      if (done === true) throw new Error("The server has ended.");
      if ((JSON.parse(value) as { id?: number }).id === id) return value;
    }
  }

  async close(): Promise<void> {
    const exit = once(this.#child, "exit");
    this.#child.stdin.end();
    await exit;
  }
}

/** Opens the page as a person does until a question is there, and answers it. */
async function answerAt(url: string, answer: "allow" | "deny"): Promise<void> {
  for (;;) {
    const [, id] = /name="id" value="([^"]+)"/.exec(await (await fetch(url)).text()) ?? [];
    if (id === undefined) continue;
    await fetch(url, { method: "POST", body: new URLSearchParams({ id, answer }), redirect: "manual" });
    return;
  }
}

describe("the template mcp", () => {
  it("leads from init to a verified log, for a client over stdio", async () => {
    const app = await templateApp("mcp");
    await expectSound(app, "dist");
    grantDiary(app);
    const client = new StdioClient(app.folder);
    const url = await client.approvals();
    const clientInfo = { name: "newcomer", version: "1.0.0" };
    await client.ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    client.notify("notifications/initialized");
    expect(await client.ask("tools/list", {})).toContain('"save_note"');
    const call = (name: string, input: object) => client.ask("tools/call", { name, arguments: input });
    expect(await call("word_count", { text: "Water the plants." })).toContain('{"words":3}');
    const answered = async (input: object, answer: "allow" | "deny"): Promise<string> =>
      (await Promise.all([call("save_note", input), answerAt(url, answer)]))[0];
    expect(await call("save_note", { ...note, path: "secrets/key.txt" })).toContain("CAPABILITY_DENIED");
    expect(await answered(note, "deny")).toContain("APPROVAL_DENIED");
    expect(await answered(note, "allow")).toContain("Saved 5 characters to diary/today.txt.");
    expect((await fetch(new URL("/guessed", url))).status).toBe(404);
    await client.close();
    await expectLog(app, 2);
  });
});
