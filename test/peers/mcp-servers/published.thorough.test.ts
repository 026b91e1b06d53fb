import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AddressInfo, createServer } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { createKernel, type JsonObject, type Kernel, type PolicyDocument } from "@keyhole/kernel";
import { type McpEndpoint, mcpHttp, mcpSource, type McpSource } from "@keyhole/mcp";
import { mcpProcess } from "@keyhole/mcp/node";
import { afterAll, expect, it } from "vitest";
import { afterwards, closeAfterEach } from "../../mcp/support.ts";

/** Servers of others as sources, unchanged: those of the protocol's makers that need no network. */

closeAfterEach();

const programOf = (name: string): string =>
  fileURLToPath(new URL(`node_modules/@modelcontextprotocol/server-${name}/dist/index.js`, import.meta.url));

const folder = mkdtempSync(join(tmpdir(), "keyhole-servers-"));
writeFileSync(join(folder, "note.txt"), "A note.");
afterAll(() => rmSync(folder, { recursive: true }));

async function sourceOf(server: McpEndpoint): Promise<{ readonly kernel: Kernel; readonly source: McpSource }> {
  const grants = server.capabilities.map((capability) => ({ tool: "*", capability }));
  const policy = { version: "1", posture: "permissive", grants } as unknown as PolicyDocument;
  const kernel = await createKernel({ policy });
  afterwards(() => kernel.close());
  const source = await mcpSource(kernel, { name: "far", server, tiers: { write_file: 2 } });
  afterwards(() => source.close());
  return { kernel, source };
}

it.each<[string, readonly string[], string, JsonObject, string]>([
  ["everything", ["stdio"], "echo", { message: "hello" }, "hello"],
  ["filesystem", [folder], "read_text_file", { path: join(folder, "note.txt") }, "A note."],
  ["memory", [], "read_graph", {}, "entities"],
  [
    "sequential-thinking",
    [],
    "sequentialthinking",
    { thought: "First.", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 },
    "thoughtNumber",
  ],
])("the server %s has each tool in the kernel, and one of them called", async (name, args, tool, input, expected) => {
  const server = mcpProcess({ command: "node", args: [programOf(name), ...args] });
  const { kernel, source } = await sourceOf(server);
  const refused = source.tools.filter(({ state }) => state !== "open");
  expect(refused).toEqual([]);
  const called = source.tools.find(({ serverName }) => serverName === tool);
  const result = await kernel.call(called?.name ?? "", input);
  expect(JSON.stringify(result.ok ? result.data : result.error)).toContain(expected);
  expect(result.ok).toBe(true);
});

/** The server takes none by itself. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => void server.close(() => resolve()));
  return port;
}

it("the server everything over HTTP is called as over stdio", async () => {
  const port = await freePort();
  const child = spawn(process.execPath, [programOf("everything"), "streamableHttp"], {
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  afterwards(() => void child.kill());
  for await (const line of createInterface({ input: child.stderr })) if (line.includes(String(port))) break;
  const { kernel } = await sourceOf(mcpHttp({ url: `http://127.0.0.1:${port}/mcp` }));
  expect(await kernel.call("far_echo", { message: "hello" })).toMatchObject({ ok: true });
});
