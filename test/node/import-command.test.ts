import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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
