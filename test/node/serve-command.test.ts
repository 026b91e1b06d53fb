import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { type Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { type CommandIo, runCommand } from "../../packages/keyhole/src/command/run-command.ts";
import { afterwards, clientOf, closeAfterEach } from "../mcp/support.ts";
import { ioIn } from "../support/command-files.ts";
import { root as repository } from "../support/sources.ts";
import { program, removePrograms, toolText } from "../vite/program.ts";

closeAfterEach();
afterAll(removePrograms);

const rude = { command: "node", args: [`${repository}test/node/mcp-server.ts`] };
const node = {
  kind: "process.spawn",
  commands: [{ command: "node", args: [{ prefix: "/" }, { rest: { prefix: "" } }] }],
};
const policy = {
  version: "1",
  posture: "standard",
  grants: [{ tool: "*", capability: node }],
  rules: [
    { id: "pids", effect: "allow", when: { tool: ["rude_pid"] }, reason: "It only reads." },
    { id: "no-huge", effect: "deny", when: { tool: ["rude_huge"] }, reason: "Too large." },
  ],
};

let root: string;
beforeEach(() => {
  root = program({
    "tools/greet.ts": toolText("greet", "({ name }) => `Hello ${name}!`"),
    "servers.json": JSON.stringify({ mcpServers: { rude } }),
    "policy.json": JSON.stringify(policy),
  });
});

const words = ["serve", "--mcp", "--servers", "servers.json"];

async function ran(more: readonly string[], io: Partial<CommandIo> = {}) {
  const own = ioIn(root, io);
  const { exitCode, output, errorOutput } = await runCommand([...words, ...more], own);
  return { exitCode, output, said: `${own.notes.join("")}${errorOutput ?? ""}` };
}

const namesOf = async (client: Client): Promise<string[]> => (await client.listTools()).tools.map(({ name }) => name);

/** One policy over a tool of our own and those of a server, whichever way a client comes. */
async function isGoverned(client: Client): Promise<void> {
  const names = await namesOf(client);
  expect(names).toEqual(expect.arrayContaining(["greet", "rude_pid", "rude_env"]));
  expect(names).not.toContain("rude_huge");
  const greeted = await client.callTool({ name: "greet", arguments: { name: "Ada" } });
  expect(greeted).toMatchObject({ content: [{ text: "Hello Ada!" }], _meta: { "keyhole/decision": "allow" } });
  const read = await client.callTool({ name: "rude_pid", arguments: {} });
  expect(read).toMatchObject({ content: [{ text: expect.stringMatching(/^\d+$/) }] });
  const asked = await client.callTool({ name: "rude_env", arguments: {} });
  expect(asked).toMatchObject({ isError: true, _meta: { "keyhole/error": { code: "APPROVAL_DENIED" } } });
}

describe("keyhole serve --mcp", () => {
  it("serves own tools and those of a server over stdio, and leaves a log that verifies", async () => {
    const cli = ["--import", `${repository}scripts/source.mjs`, `${repository}packages/keyhole/src/cli.ts`];
    const client = clientOf("2026-07-28");
    const args = [...cli, ...words];
    await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd: root, stderr: "pipe" }));
    afterwards(() => client.close());
    await isGoverned(client);
    await client.close();
    const log = join(root, ".keyhole", "audit.jsonl");
    expect(readFileSync(log, "utf8")).toContain("tool.completed");
    const verified = await runCommand(["verify", log], ioIn(root));
    expect([verified.exitCode, verified.output]).toEqual([3, expect.stringContaining("Intact, but unvouched")]);
  });

  it("serves the same over HTTP to the holder of the token, until it is interrupted", async () => {
    const stop = new AbortController();
    let printed = "";
    const own = ioIn(root, { signal: stop.signal, print: (text) => void (printed += text) });
    const serving = runCommand([...words, "--http", "0"], own);
    afterwards(() => {
      stop.abort();
      return serving;
    });
    await expect.poll(() => printed, { timeout: 60_000 }).toMatch(/token/);
    const [, url = "", token = ""] = /(http:\S+)\n.*: (\S+)\n/.exec(printed) ?? [];
    const connect = async (authorization: string): Promise<Client> => {
      const client = clientOf("2025-11-25");
      const requestInit = { headers: { authorization } };
      await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
      afterwards(() => client.close());
      return client;
    };
    await isGoverned(await connect(`Bearer ${token}`));
    await expect(connect(`Bearer ${token.slice(1)}`)).rejects.toThrow(/401|Unauthorized|token is unknown/);
    stop.abort();
    expect(await serving).toMatchObject({ exitCode: 130 });
  });

  it.each<[string, readonly string[], string]>([
    ["no protocol", [], "`keyhole serve --mcp`"],
    ["a port that is none", ["--mcp", "--http", "70000"], "from 0 to 65535"],
    ["a token that is not set", ["--mcp", "--http", "0", "--token", "KEYHOLE_NOT_SET"], "KEYHOLE_NOT_SET is not set"],
    ["a file without servers", ["--mcp", "--servers", "policy.json"], "names no servers"],
    ["a server that is no whole one", ["--mcp", "--servers", "both.json"], "needs `command` or `url`, and not both"],
    ["a server that cannot be started", ["--mcp", "--servers", "gone.json"], "The server gone cannot be used"],
    ["a tool that cannot be packed", ["--mcp", "broken.ts"], "broken.ts"],
    ["a port that is taken", ["--mcp", "--http", "TAKEN"], "is in use. End the program that has it, or name another"],
  ])("with %s says what is wrong, and serves nothing", async (_, more, message) => {
    const both = { servers: { both: { command: "node", url: "https://mcp.example.com" } } };
    writeFileSync(join(root, "both.json"), JSON.stringify(both));
    writeFileSync(join(root, "gone.json"), JSON.stringify({ mcpServers: { gone: { command: "no-such-program" } } }));
    writeFileSync(join(root, "broken.ts"), "export default 1;");
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    afterwards(() => void taken.close());
    const { port } = taken.address() as AddressInfo;
    const typed = more.map((word) => (word === "TAKEN" ? String(port) : word));
    const { exitCode, output, errorOutput = "" } = await runCommand(["serve", ...typed], ioIn(root));
    expect([exitCode, output]).toEqual([2, ""]);
    expect(errorOutput).toContain(message);
  });

  it("says which server no call can reach, and suggests a policy with which its tools alone reach it", async () => {
    const { output } = await ran(["--suggest"]);
    const { grants, rules } = JSON.parse(output) as {
      grants: { tool: string; capability: object }[];
      rules?: object[];
    };
    expect(rules).toBeUndefined();
    expect(new Set(grants.map(({ capability }) => JSON.stringify(capability)))).toEqual(
      new Set([JSON.stringify({ kind: "process.spawn", commands: [rude] })]),
    );
    const names = grants.map(({ tool }) => tool);
    expect(names).toContain("rude_pid");
    expect(names.filter((name) => !name.startsWith("rude_"))).toEqual([]);
    writeFileSync(join(root, "none.json"), JSON.stringify({ version: "1", posture: "standard" }));
    // It ends at the port, once the servers are connected.
    const { said } = await ran(["--http", "70000", "--policy", "none.json"]);
    expect(said).toContain("The policy lets client call no tool of rude, so the client sees none.");
    expect((await ran(["--http", "70000"])).said).not.toContain("no tool");
  });

  it("accepts definitions that wait only from a person at a terminal, and makes keys", async () => {
    await ran(["--review"]);
    const pins = join(root, ".keyhole", "pins-rude.json");
    const pinned = JSON.parse(readFileSync(pins, "utf8")) as { sources: { rude: { tool: string }[] } };
    pinned.sources.rude = pinned.sources.rude.filter(({ tool }) => tool !== "env");
    writeFileSync(pins, JSON.stringify(pinned));
    expect(await ran(["--review"])).toMatchObject({ exitCode: 1, output: "0 definitions accepted, 1 waiting.\n" });
    expect(await ran(["--review"], { ask: async () => "yes" })).toMatchObject({ exitCode: 0 });
    const { output } = await ran(["--new-key", "ada"]);
    const key = output.trim().split(" ").at(-1) ?? "";
    expect(readFileSync(join(root, ".keyhole", "approvers.json"), "utf8")).not.toContain(key);
  });
});
