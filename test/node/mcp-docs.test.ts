import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { createInterface } from "node:readline";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, describe, expect, it } from "vitest";
import { readPage } from "../docs/markdown.ts";
import { root } from "../support/sources.ts";
import { afterwards, closeAfterEach, type Era, eras } from "../mcp/support.ts";

/** Programs of docs/mcp.md, run as a reader would run them, with the packages from their sources. */

closeAfterEach();

mkdirSync(`${root}node_modules/.cache`, { recursive: true });
const folder = mkdtempSync(`${root}node_modules/.cache/keyhole-mcp-docs-`);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Writes the block that begins with this name. The port of the page could be taken. */
function program(name: string): readonly string[] {
  const block = readPage("docs/mcp.md").blocks.find(({ text }) => text.startsWith(`// ${name}\n`));
  const text = (block?.text ?? "").replace("port: 8931", "port: 0");
  // Node takes no types away below node_modules.
  const file = `${folder}/${name.replace(/ts$/, "mjs")}`;
  writeFileSync(file, stripTypeScriptTypes(text));
  return ["--import", `${root}scripts/source.mjs`, file];
}

function clientOf(era: Era): Client {
  const mode = era === "2026-07-28" ? { pin: era } : "legacy";
  const client = new Client({ name: "reader", version: "1.0.0" }, { versionNegotiation: { mode } });
  afterwards(() => client.close());
  return client;
}

describe("docs/mcp.md", () => {
  it.each(eras)("has a server over stdio that answers in %s, and ends with its client", async (era) => {
    const client = clientOf(era);
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [...program("serve-stdio.ts")],
      stderr: "pipe",
    });
    const said: string[] = [];
    transport.stderr?.on("data", (chunk) => said.push(String(chunk)));
    await client.connect(transport);
    expect((await client.callTool({ name: "add", arguments: { a: 1, b: 2 } })).structuredContent).toEqual({ sum: 3 });
    const { pid } = transport;
    await client.close();
    await expect.poll(() => isAlive(pid ?? 0)).toBe(false);
    expect(said.join("")).toBe("");
  });

  it("has a server over HTTP that takes its token and no other", async () => {
    const child = spawn(process.execPath, program("serve-http.ts"), { stdio: ["ignore", "pipe", "inherit"] });
    afterwards(() => void child.kill());
    const [url = "", token = ""] = (await firstLine(child)).split(" ");
    for (const era of eras) {
      const client = clientOf(era);
      const headers = { authorization: `Bearer ${token}` };
      await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
      expect((await client.callTool({ name: "time", arguments: {} })).content).toMatchObject([{ type: "text" }]);
    }
    const stranger = clientOf("2026-07-28");
    await expect(stranger.connect(new StreamableHTTPClientTransport(new URL(url)))).rejects.toThrow(
      /401|bearer|token/i,
    );
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function firstLine({ stdout }: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: stdout! })) return line;
  throw new Error("The program ended without a line.");
}
