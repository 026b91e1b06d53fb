import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Page } from "playwright";
import { afterAll, describe, expect, it } from "vitest";
import { freePorts } from "../../../scripts/serve/ports.mjs";
import { launch, newContext, noteComplaints } from "../../e2e/playground/visitor.ts";
import { removePackedApps } from "../../support/packed-app.ts";
import { ended, type TemplateApp, templateApp } from "./template-app.ts";

/* Each template as a newcomer takes it, with the packages of the tarballs: from init to a call, a refusal, another policy, an approval and a verified log. */

afterAll(removePackedApps);

/** Its types, its own tests, and what the command says of its policy. */
async function expectSound({ folder, program, keyhole, run }: TemplateApp, packages: string): Promise<void> {
  expect(await keyhole("pack", "tools", "-o", packages)).toMatchObject({ code: 0 });
  expect(await run(program("typescript/bin/tsc"), "-p", ".")).toEqual({ code: 0, said: "" });
  expect((await run("--test")).said).toMatch(/pass 3$/m);
  expect((await keyhole("policy", "check", "policy.json")).code).toBe(0);
  expect(existsSync(join(folder, ".gitignore"))).toBe(true);
}

function grantDiary({ folder }: TemplateApp): void {
  const policy = join(folder, "policy.json");
  writeFileSync(policy, readFileSync(policy, "utf8").replace('["notes/**"]', '["notes/**", "diary/**"]'));
}

async function expectLog({ keyhole }: TemplateApp, completed: number): Promise<void> {
  expect(await keyhole("verify", "audit.jsonl")).toMatchObject({
    code: 3,
    said: expect.stringMatching(/^✓ log /) as string,
  });
  const shown = (await keyhole("log", "show", "audit.jsonl", "--type", "tool.completed")).said;
  expect(shown.trim().split("\n")).toHaveLength(completed);
}

const note = { path: "diary/today.txt", text: "Rain." };

describe("the template node", () => {
  it("leads from init to a verified log", async () => {
    const app = await templateApp("node", ["typescript", "@types/node"]);
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

async function called(page: Page, tool: string, input: object, answer?: "Allow once" | "Deny"): Promise<unknown> {
  await page.getByLabel("Tool").selectOption(tool);
  await page.getByLabel("Input").fill(JSON.stringify(input));
  await page.getByRole("button", { name: "Call" }).click();
  if (answer !== undefined) await page.getByRole("button", { name: answer }).click();
  await page.waitForFunction(() => !["", "…"].includes(document.querySelector("#result")!.textContent.trim()));
  return JSON.parse((await page.textContent("#result"))!);
}

describe("the template vite-react", () => {
  it("leads from init to a verified log, in a page under the header that the build prints", async () => {
    const types = ["typescript", "@types/node", "@types/react", "@types/react-dom"];
    const app = await templateApp("vite-react", ["@vitejs/plugin-react", "react", "react-dom", ...types]);
    await expectSound(app, "packages");
    const browser = await launch();
    const page = await (await newContext(browser)).newPage();
    const complaints: string[] = [];
    noteComplaints(page, (text) => complaints.push(text));
    await withServed(app, async (origin, built) => {
      const header = (await page.goto(origin))!.headers()["content-security-policy"];
      expect(built).toContain(`Content-Security-Policy: ${header}`);
      expect(await called(page, "word_count", { text: "Water the plants." })).toEqual({ words: 3 });
      expect(await called(page, "save_note", note, "Allow once")).toMatchObject({ code: "CAPABILITY_DENIED" });
    });
    grantDiary(app);
    await withServed(app, async (origin) => {
      await page.goto(origin);
      expect(await called(page, "save_note", note, "Deny")).toMatchObject({ code: "APPROVAL_DENIED" });
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
    const app = await templateApp("worker", ["@cloudflare/workers-types", "typescript", "@types/node"]);
    const { folder, program, run } = app;
    await expectSound(app, "packages");
    expect(await run(program("typescript/bin/tsc"), "-p", "test")).toEqual({ code: 0, said: "" });
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
      expect((await call("save_note", { ...note, path: "secrets/key.txt" }, "yes\n")).said).toContain(
        "code: 'CAPABILITY_DENIED'",
      );
      expect((await call("save_note", note, "no\n")).said).toContain("code: 'APPROVAL_DENIED'");
      expect((await call("save_note", note, "yes\n")).said).toContain("Saved 5 characters to diary/today.txt.");
      expect((await ended(folder, ["client/log.ts"], { env })).said).toMatch(/^\d+ events written/);
    } finally {
      edge.kill();
      await once(edge, "exit");
    }
    await expectLog(app, 2);
  });
});
