import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { describe, expect, it } from "vitest";
import { type CommandIo, runCommand } from "../../packages/keyhole/src/command/run-command.ts";
import { afterwards, clientOf, closeAfterEach, type Era } from "../mcp/support.ts";
import { newAuthenticator } from "../support/authenticator.ts";
import { ioIn } from "../support/command-files.ts";
import { root } from "../support/sources.ts";

closeAfterEach();

const cli = ["--import", `${root}scripts/source.mjs`, `${root}packages/keyhole/src/cli.ts`];
const server = ["node", `${root}test/node/mcp-server.ts`];

function homeFolder(): string {
  const home = mkdtempSync(join(tmpdir(), "keyhole-wrap-"));
  afterwards(() => rmSync(home, { recursive: true }));
  return home;
}

const words = (home: string, ...more: readonly string[]): string[] => [
  ...cli,
  "wrap",
  "--name",
  "rude",
  "--home",
  home,
  ...more,
];

async function connected(
  home: string,
  era: Era,
  onPage?: (url: string) => Promise<void>,
): Promise<{ readonly client: Client; readonly pid: number }> {
  const client = clientOf(era, onPage && { capabilities: { elicitation: { url: {} } } });
  if (onPage)
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      if (params.mode === "url") await onPage(params.url);
      return { action: "accept" };
    });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: words(home, "--", ...server),
    stderr: "pipe",
  });
  await client.connect(transport);
  afterwards(() => client.close());
  return { client, pid: transport.pid ?? 0 };
}

/** Runs the command in this process, to its end. */
async function ran(home: string, more: readonly string[], io: Partial<CommandIo> = {}) {
  const own = ioIn(home, io);
  const { exitCode, output, errorOutput } = await runCommand(["wrap", "--name", "rude", "--home", home, ...more], own);
  return { exitCode, output, said: `${own.notes.join("")}${errorOutput ?? ""}` };
}

/** Changes the policy of a home. */
function allow(home: string): void {
  const path = join(home, "policy.json");
  const policy = JSON.parse(readFileSync(path, "utf8")) as object;
  const rule = { id: "no-huge", effect: "deny", when: { tool: ["rude_huge"] }, reason: "Too large." };
  writeFileSync(path, JSON.stringify({ ...policy, posture: "permissive", rules: [rule] }));
}

function demandPasskey(home: string, passkeys: object): void {
  const path = join(home, "policy.json");
  const policy = JSON.parse(readFileSync(path, "utf8")) as object;
  writeFileSync(path, JSON.stringify({ ...policy, approver: "passkey", passkeys }));
}

/** A port that is taken until it is closed. */
async function listening(): Promise<{ readonly port: number; close(): Promise<void> }> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { port, close: async () => void (await once(server.close(), "close")) };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe("keyhole wrap", () => {
  it("lists the server's tools under their own names, asks a person with a key about each call, and ends with its client", async () => {
    const home = homeFolder();
    const { output } = await ran(home, ["--new-key", "ada"]);
    const key = output.trim().split(" ").at(-1) ?? "";
    expect(readFileSync(join(home, "approvers.json"), "utf8")).not.toContain(key);
    const { client, pid } = await connected(home, "2025-11-25", async (page) => {
      const body = new URLSearchParams({ key, answer: "allow" });
      await fetch(page, { method: "POST", headers: { origin: new URL(page).origin }, body });
    });
    const names = ["child", "cling", "cut", "die", "env", "huge", "list", "pid", "print", "scream", "twice"];
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(names);
    const allowed = await client.callTool({ name: "pid", arguments: {} });
    expect(allowed).toMatchObject({ content: [{ text: expect.stringMatching(/^\d+$/) }] });
    await client.close();
    await expect.poll(() => isAlive(pid)).toBe(false);
  });

  it("asks for a passkey where the policy demands one, at the first free of its pages", async () => {
    const home = homeFolder();
    await ran(home, ["--suggest", "--", ...server]);
    const [taken, free] = [await listening(), await listening()];
    await free.close();
    const signer = await newAuthenticator("ada");
    const origins = [taken, free].map(({ port }) => `http://localhost:${port}`);
    demandPasskey(home, { rpId: "localhost", origins, keys: [signer.passkey] });
    const pages: string[] = [];
    const { client } = await connected(home, "2025-11-25", async (page) => {
      pages.push(new URL(page).origin);
      const challenge = /data-challenge="([^"]+)"/.exec(await (await fetch(page)).text())?.[1];
      const clientData = { type: "webauthn.get", challenge, origin: new URL(page).origin, crossOrigin: false };
      const passkey = JSON.stringify(await signer.sign({ clientData, rpId: "localhost" }));
      const body = new URLSearchParams({ passkey, answer: "allow" });
      await fetch(page, { method: "POST", headers: { origin: new URL(page).origin }, body });
    });
    const allowed = await client.callTool({ name: "pid", arguments: {} });
    expect(allowed).toMatchObject({ content: [{ text: expect.stringMatching(/^\d+$/) }] });
    expect(pages).toEqual([origins[1]]);
    const other = homeFolder();
    copyFileSync(join(home, "policy.json"), join(other, "policy.json"));
    const refused = await ran(other, ["--", ...server]);
    expect([refused.exitCode, refused.said]).toEqual([2, expect.stringContaining("is in use")]);
    await client.close();
    await taken.close();
  });

  it("decides by the policy of its folder, and writes a log, for a client of the other era", async () => {
    const home = homeFolder();
    await ran(home, ["--suggest", "--", ...server]);
    allow(home);
    const { client } = await connected(home, "2026-07-28");
    const [answer] = (await client.callTool({ name: "pid", arguments: {} })).content;
    const served = answer?.type === "text" ? Number(answer.text) : 0;
    expect(isAlive(served)).toBe(true);
    expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain("huge");
    await expect(client.callTool({ name: "huge", arguments: {} })).rejects.toThrow('There is no tool "huge"');
    await client.close();
    await expect.poll(() => isAlive(served)).toBe(false);
    expect(readFileSync(join(home, "audit.jsonl"), "utf8")).toContain("tool.completed");
  });

  it("says at its start that its log was changed, and what to do", async () => {
    const home = homeFolder();
    await ran(home, ["--suggest", "--", ...server]);
    writeFileSync(join(home, "audit.jsonl"), "x\n");
    const { exitCode, said } = await ran(home, ["--", "no-such-program"]);
    const words = "audit.jsonl: The log has changed since the kernel wrote it. The mode is LOCKDOWN. Put back";
    expect([exitCode, said]).toEqual([2, expect.stringContaining(words)]);
  });

  it("accepts a definition that waits only from a person at a terminal", async () => {
    const home = homeFolder();
    await ran(home, ["--suggest", "--", ...server]);
    const path = join(home, "pins.json");
    const pins = JSON.parse(readFileSync(path, "utf8")) as { sources: { rude: { tool: string }[] } };
    pins.sources.rude = pins.sources.rude.filter(({ tool }) => tool !== "env");
    writeFileSync(path, JSON.stringify(pins));
    const review = ["--review", "--", ...server];
    const unasked = await ran(home, review);
    expect(unasked).toMatchObject({ exitCode: 1, output: "0 definitions accepted, 1 waiting.\n" });
    expect(unasked.said).toContain('env is new:\n  /name\n    + "env"\n');
    expect(unasked.said.match(/env is new/g)).toHaveLength(1);
    expect(await ran(home, review, { ask: async () => "y" })).toMatchObject({ exitCode: 1 });
    expect(await ran(home, review, { ask: async () => "yes" })).toMatchObject({ exitCode: 0 });
    expect(await ran(home, review)).toMatchObject({ exitCode: 0, output: "0 definitions accepted, 0 waiting.\n" });
  });

  it("asks about another command once, and takes none that never ran for the way to the server", async () => {
    const home = homeFolder();
    await ran(home, ["--suggest", "--", "no-such-program"]);
    await ran(home, ["--suggest", "--", ...server]);
    const review = ["--review", "--", ...server, "more"];
    const unasked = await ran(home, review);
    expect(unasked).toMatchObject({ exitCode: 1, output: "0 definitions accepted, 1 waiting.\n" });
    expect(unasked.said).toContain('The way to the server is changed:\n  /args/1\n    + "more"\n');
    expect(await ran(home, review, { ask: async () => "yes" })).toMatchObject({ exitCode: 0 });
    expect(await ran(home, review)).toMatchObject({ exitCode: 0 });
  });

  it.each<[string, readonly string[], string]>([
    ["no server", [], "Name one server"],
    ["two servers", ["--url", "https://mcp.example.com", "--", "node"], "Name one server"],
    ["a URL that is none", ["--url", "mcp.example.com"], "is no URL of HTTP"],
    ["a program that is not there", ["--", "no-such-program"], "no-such-program cannot be started"],
    ["a variable that is not set", ["--env", "KEYHOLE_NOT_SET", "--", "node"], "KEYHOLE_NOT_SET is not set"],
    ["a name that is none", ["--name", "../up", "--", "node"], "The name of a source has"],
    ["a wait that is none", ["--fsync", "never", "--", "node"], "--fsync takes `batch` or `second`; got never"],
  ])("with %s says what is wrong", async (_, more, message) => {
    expect(await ran(homeFolder(), more)).toEqual({ exitCode: 2, output: "", said: expect.stringContaining(message) });
  });
});
