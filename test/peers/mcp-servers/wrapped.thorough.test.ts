import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, expect, it, vi } from "vitest";
import { runCommand } from "../../../packages/keyhole/src/command/run-command.ts";
import { afterwards, clientOf, closeAfterEach } from "../../mcp/support.ts";
import { ioIn } from "../../support/command-files.ts";
import { root } from "../../support/sources.ts";
import { entryOf, folder, servers, type WrappedServer } from "./wrapped.ts";

/** Published servers, unchanged, each behind `keyhole wrap` in a process of its own. */

closeAfterEach();

const cli = ["--import", `${root}scripts/source.mjs`, `${root}packages/keyhole/src/cli.ts`];
writeFileSync(join(folder, "note.txt"), "A note.");
afterAll(() => rmSync(folder, { recursive: true }));

async function run(words: readonly string[]) {
  const { exitCode, output, errorOutput } = await runCommand([...words], ioIn(folder));
  return { exitCode, said: `${output}${errorOutput ?? ""}` };
}

/** The first policy of `wrap`, with all calls allowed but one. */
function decide(home: string, { denied: [tool, at, input] }: WrappedServer): void {
  const path = join(home, "policy.json");
  const policy = JSON.parse(readFileSync(path, "utf8")) as object;
  const value = at
    .split("/")
    .slice(1)
    .reduce<unknown>((inner, key) => Object(inner)[key], input);
  const when = { tool: [`far_${tool}`], arguments: [{ at, equals: value }] };
  const rules = [{ id: "never", effect: "deny", when, reason: "Never." }];
  writeFileSync(path, JSON.stringify({ ...policy, posture: "permissive", rules }));
}

it.each(servers.map((server) => [server.entry.split("/dist/")[0], server] as const))(
  "%s is listed, called and denied behind `keyhole wrap`, and its log is verified",
  async (_, server) => {
    const home = mkdtempSync(join(tmpdir(), "keyhole-home-"));
    afterwards(() => rmSync(home, { recursive: true }));
    const variables = Object.entries(server.files ?? {}).map(([name, path]) => [name, join(folder, path)] as const);
    for (const [name, path] of variables) vi.stubEnv(name, path);
    afterwards(() => void vi.unstubAllEnvs());
    const named = variables.flatMap(([name]) => ["--env", name]);
    const program = ["node", entryOf(server.entry), ...(server.args ?? [])];
    const words = ["wrap", "--name", "far", "--home", home, ...named, "--", ...program];
    expect((await run(words.toSpliced(1, 0, "--suggest"))).exitCode).toBe(0);
    decide(home, server);
    const client = clientOf("2025-11-25");
    const env = { ...process.env, ...Object.fromEntries(variables) } as Record<string, string>;
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [...cli, ...words],
      env,
      stderr: "ignore",
    });
    await client.connect(transport);
    afterwards(() => client.close());
    expect((await client.listTools()).tools).toHaveLength(server.tools);
    const [tool, input, expected] = server.call;
    const called = await client.callTool({ name: tool, arguments: input });
    expect(called.isError, JSON.stringify(called)).not.toBe(true);
    expect(JSON.stringify(called)).toContain(expected);
    const [name, , secret] = server.denied;
    const denied = await client.callTool({ name, arguments: secret });
    expect(denied).toMatchObject({ isError: true, _meta: { "keyhole/error": { code: "POLICY_DENIED" } } });
    if (server.trace !== undefined) expect(existsSync(join(folder, server.trace))).toBe(false);
    await client.close();
    const verified = await run(["verify", join(home, "audit.jsonl")]);
    expect(verified).toMatchObject({ exitCode: 3 });
  },
);
