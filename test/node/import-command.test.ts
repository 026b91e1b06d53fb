import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { runCommand } from "../../packages/keyhole/src/command/run-command.ts";
import { ioIn } from "../support/command-files.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** Imports a configuration, and gives what was written. */
async function imported(config: unknown) {
  const folder = mkdtempSync(join(tmpdir(), "keyhole-import-"));
  folders.push(folder);
  const text = typeof config === "string" ? config : JSON.stringify(config);
  writeFileSync(join(folder, "mcp.json"), text);
  const import_ = () => runCommand(["import", "mcp-config", "mcp.json"], ioIn(folder));
  const result = await import_();
  const written = (): unknown => JSON.parse(readFileSync(join(folder, "mcp.keyhole.json"), "utf8"));
  return {
    ...result,
    folder,
    written,
    again: import_,
    unchanged: () => readFileSync(join(folder, "mcp.json"), "utf8") === text,
  };
}

describe("keyhole import mcp-config", () => {
  it("wraps each server beside the file, keeps what it does not know, and shows each difference", async () => {
    const files = { command: "npx", args: ["-y", "server-files", "./notes"], env: { TOKEN: "s3cret" }, disabled: true };
    const web = { type: "http", url: "https://mcp.example.com/mcp", headers: { Authorization: "Bearer s3cret" } };
    const config = { theme: "dark", mcpServers: { "My Files": files, "web.1": web, "web-1": { command: "web" } } };
    const { exitCode, output, written, unchanged } = await imported(config);
    expect(exitCode).toBe(0);
    expect(written()).toEqual({
      theme: "dark",
      mcpServers: {
        "My Files": {
          command: "node",
          args: [
            "keyhole.js",
            "wrap",
            "--name",
            "myfiles",
            "--env",
            "TOKEN",
            "--",
            "npx",
            "-y",
            "server-files",
            "./notes",
          ],
          env: { TOKEN: "s3cret" },
          disabled: true,
        },
        "web.1": {
          type: "stdio",
          command: "node",
          args: "keyhole.js wrap --name web1 --url https://mcp.example.com/mcp --header Authorization=KEYHOLE_HEADER_AUTHORIZATION".split(
            " ",
          ),
          env: { KEYHOLE_HEADER_AUTHORIZATION: "Bearer s3cret" },
        },
        "web-1": { command: "node", args: ["keyhole.js", "wrap", "--name", "web12", "--", "web"] },
      },
    });
    expect(output).toContain('web-1\n  - {"command":"web"}\n  + {"command":"node","args":["keyhole.js"');
    expect(output).not.toContain("s3cret");
    expect(output).toMatch(/keyhole wrap --name NAME --new-key YOU\n$/);
    expect(unchanged()).toBe(true);
  });

  it("keeps a server that it cannot wrap, or that is wrapped, says so, and ends with 1", async () => {
    const wrapped = { command: "node", args: ["keyhole.js", "wrap", "--name", "a", "--", "x"] };
    const servers = { odd: { url: 1 }, wrapped, text: "x" };
    const { exitCode, output, written } = await imported({ servers });
    expect(exitCode).toBe(1);
    expect(written()).toEqual({ servers });
    expect(output).toContain("odd stays as it is: it has neither a command nor a URL.\n");
    expect(output).toContain("wrapped stays as it is: it is wrapped.\n");
  });

  const mail = { command: "npx", args: ["-y", "server-mail"] };
  const notes = { mcpServers: { notes: { command: "npx", args: ["-y", "server-notes"] } } };
  const wrapper = { command: "node", args: ["keyhole.js", "wrap", "--name", "a", "--", "x"] };

  it.each<[string, object, string]>([
    ["under another name of the same file", { ...notes, servers: { mail } }, '"servers/mail"'],
    [
      "in a project",
      { ...notes, projects: { "/home/ada": { mcpServers: { mail } } } },
      '"projects//home/ada/mcpServers/mail"',
    ],
    ["in an editor's settings", { ...notes, mcp: { servers: { mail } } }, '"mcp/servers/mail"'],
    ["under a name that nobody knows", { ...notes, other: { mail } }, '"other/mail"'],
    ["in a list", { ...notes, servers: [mail] }, '"servers/0"'],
    ["at an address", { ...notes, mcp: { servers: { mail: { url: "https://m.example/" } } } }, '"mcp/servers/mail"'],
  ])("names a server that it leaves %s, and ends with 1", async (_, config, place) => {
    const { exitCode, output } = await imported(config);
    expect(output).toContain(`${place} stays as it is: it is not in mcpServers.\n`);
    expect(exitCode).toBe(1);
  });

  it.each<[string, object]>([
    ["words of a server's own", { command: "npx", args: ["-y", "evil", "wrap", "--name", "x"] }],
    ["another program", { command: "npx", args: ["keyhole.js", "wrap", "--name", "x"] }],
    ["a program before it", { command: "node", args: ["evil.js", "keyhole.js", "wrap", "--name", "x"] }],
    ["an option of Node", { command: "node", args: ["--import=evil.js", "keyhole.js", "wrap", "--name", "x"] }],
    ["another verb", { command: "node", args: ["keyhole.js", "run", "wrap", "--name", "x"] }],
  ])("wraps a server that looks wrapped by %s", async (_, server) => {
    const { exitCode, written } = await imported({ mcpServers: { server } });
    const args = expect.arrayContaining(["keyhole.js", "wrap", "server", "--"]);
    expect(written()).toMatchObject({ mcpServers: { server: { command: "node", args } } });
    expect(exitCode).toBe(0);
  });

  it("ends with 0 where every server is wrapped, anywhere", async () => {
    const { exitCode } = await imported({ mcpServers: { wrapper }, projects: { a: { mcpServers: { wrapper } } } });
    expect(exitCode).toBe(0);
  });

  it("gives each header a variable of its own", async () => {
    const headers = { "X-Api": "one", X_Api: "two", "x-api": "three" };
    const { written } = await imported({ mcpServers: { web: { url: "https://m.example/", headers } } });
    const { env } = (written() as { mcpServers: { web: { env: Record<string, string> } } }).mcpServers.web;
    expect(Object.values(env)).toEqual(["one", "two", "three"]);
  });

  it("reads what an editor keeps: comments, commas at the end, a byte order mark", async () => {
    const text = `\ufeff{ // mine: "}"\n "servers": { /* , */ "a": { "command": "x", "args": ["// no,]", "/*", ], }, }, }`;
    const { exitCode, written } = await imported(text);
    expect([exitCode, written()]).toEqual([0, { servers: { a: expect.objectContaining({ command: "node" }) } }]);
    expect(JSON.stringify(written())).toContain('"--","x","// no,]","/*"]');
  });

  it("reads comments without an end once, and takes them for no JSON", async () => {
    const { exitCode, errorOutput } = await imported("/* ".repeat(60_000));
    expect([exitCode, errorOutput]).toEqual([2, expect.stringContaining("is not JSON")]);
    expect((await imported("{} /*/")).exitCode).toBe(2);
  });

  it.each<[string, object, string]>([
    ["speaks SSE", { type: "sse", url: "https://m.example/sse" }, "it speaks SSE, and keyhole Streamable HTTP"],
    ["has variables in a file", { command: "x", envFile: ".env" }, "its envFile names variables"],
  ])("leaves a server that %s as it is, and ends with 1", async (_, server, note) => {
    const { exitCode, output, written } = await imported({ servers: { server } });
    expect([exitCode, written()]).toEqual([1, { servers: { server } }]);
    expect(output).toContain(`server stays as it is: ${note}`);
  });

  it("lets nobody read the new file who may not read the old one", async () => {
    const { folder, again } = await imported({ mcpServers: { notes: { command: "x", env: { KEY: "s3cret" } } } });
    chmodSync(join(folder, "mcp.json"), 0o600);
    rmSync(join(folder, "mcp.keyhole.json"));
    await again();
    expect(statSync(join(folder, "mcp.keyhole.json")).mode & 0o777).toBe(0o600);
  });

  it("writes over no file", async () => {
    const { again } = await imported({ mcpServers: {} });
    expect(await again()).toMatchObject({ exitCode: 2, errorOutput: expect.stringContaining("is there") });
  });

  it.each<[string, unknown, string]>([
    ["without servers", { theme: "dark" }, "names no servers"],
    ["that is a list", [], "names no servers"],
    ["that is no JSON", "{", "is not JSON"],
    ["with a server twice", '{"mcpServers":{"a":{"command":"x"},"a":{"command":"y"}}}', "duplicate member"],
  ])("refuses a file %s", async (_, config, message) => {
    expect(await imported(config)).toMatchObject({ exitCode: 2, errorOutput: expect.stringContaining(message) });
  });

  it("of a server named __proto__ makes no other object", async () => {
    const { written } = await imported('{"mcpServers":{"__proto__":{"command":"x"}}}');
    expect(Object.keys((written() as { readonly mcpServers: object }).mcpServers)).toEqual(["__proto__"]);
  });
});
