import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { createInterface } from "node:readline";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { anyone } from "@keyhole/mcp";
import { serveMcpHttp } from "@keyhole/mcp/node";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, it } from "vitest";
import { afterwards, clientOf, closeAfterEach, type Era, eras, kernelWith, standardTools } from "../../mcp/support.ts";
import { root } from "../../support/sources.ts";
import { entryOf } from "./wrapped.ts";

/* A server over HTTP of each era behind `keyhole wrap --url`, called by a client of the other era. */

closeAfterEach();

const cli = ["--import", `${root}scripts/source.mjs`, `${root}packages/keyhole/src/cli.ts`];

/** The published server takes no free port by itself. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => void server.close(() => resolve()));
  return port;
}

const urls: Readonly<Record<Era, () => Promise<string>>> = {
  async "2025-11-25"() {
    const port = await freePort();
    const program = entryOf("@modelcontextprotocol/server-everything/dist/index.js");
    const env = { ...process.env, PORT: String(port) };
    const stdio = ["ignore", "ignore", "pipe"] as const;
    const child: ChildProcess = spawn(process.execPath, [program, "streamableHttp"], { env, stdio: [...stdio] });
    afterwards(() => void child.kill());
    if (!child.stderr) throw new Error("The server has no stderr.");
    for await (const line of createInterface({ input: child.stderr })) if (line.includes(String(port))) break;
    return `http://127.0.0.1:${port}/mcp`;
  },
  async "2026-07-28"() {
    const kernel = await kernelWith(standardTools({ deeds: [] }));
    const server = await serveMcpHttp(kernel, { authenticate: anyone({ caller: "far" }) });
    afterwards(() => server.close());
    return server.url;
  },
};

it.each(eras)("a server of %s is called and denied, and the rest of it passes through", async (era) => {
  const home = mkdtempSync(join(tmpdir(), "keyhole-home-"));
  afterwards(() => rmSync(home, { recursive: true }));
  const url = new URL(await urls[era]());
  const reach = { hosts: [url.hostname], ports: [Number(url.port)] };
  const grants = (["net.read", "net.write"] as const).map((kind) => ({ tool: "*", capability: { kind, ...reach } }));
  const when = { tool: ["far_echo"], arguments: [{ at: "/message", equals: "secret" }] };
  const rules = [{ id: "never", effect: "deny", when, reason: "Never." }];
  writeFileSync(join(home, "policy.json"), JSON.stringify({ version: "1", posture: "permissive", grants, rules }));
  const words = ["wrap", "--name", "far", "--home", home, "--url", url.href];
  const client = clientOf(era === "2025-11-25" ? "2026-07-28" : "2025-11-25");
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [...cli, ...words], stderr: "inherit" }),
  );
  afterwards(() => client.close());
  const called = await client.callTool({ name: "echo", arguments: { message: "hello" } });
  expect(JSON.stringify(called)).toContain("hello");
  const denied = await client.callTool({ name: "echo", arguments: { message: "secret" } });
  expect(denied).toMatchObject({ isError: true, _meta: { "keyhole/error": { code: "POLICY_DENIED" } } });
  if (era === "2025-11-25") {
    expect((await client.listPrompts()).prompts.length).toBeGreaterThan(1);
    const [resource] = (await client.listResources()).resources;
    const { contents } = await client.readResource({ uri: resource?.uri ?? "" });
    expect(contents).toHaveLength(1);
  }
  await client.close();
  const text = readFileSync(join(home, "audit.jsonl"), "utf8");
  expect(text).toContain("far_echo");
  if (era === "2025-11-25") expect(text).toContain("far__read_resource");
});
