import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { lines, verifyAudit } from "@keyhole/kernel/audit";
import { describe, expect, it } from "vitest";
import { afterwards, clientOf, closeAfterEach } from "../mcp/support.ts";
import { root } from "../support/sources.ts";

/* One home, and each client with a process of its own: the limits of the policy hold over all of them, one after the other and side by side. */

closeAfterEach();

const node = { kind: "process.spawn", commands: [{ command: "node", args: [{ rest: { prefix: "" } }] }] };
const daily = {
  id: "daily",
  effect: "deny",
  when: { tool: ["rude_pid"], count: { windowMs: 86_400_000, moreThan: 2 } },
  reason: "At most 2 a day.",
};
const noInjection = {
  id: "no-injection",
  effect: "deny",
  when: { tool: ["rude_pid"], labels: ["untrusted"] },
  reason: "The session read untrusted text.",
};

function decide(home: string, ...rules: readonly object[]): void {
  const labels = { untrusted: { tools: ["rude_env"] } };
  const policy = { version: "1", posture: "permissive", grants: [{ tool: "*", capability: node }], labels, rules };
  writeFileSync(join(home, "policy.json"), JSON.stringify(policy));
}

function homeFolder(...rules: readonly object[]): string {
  const home = mkdtempSync(join(tmpdir(), "keyhole-home-"));
  afterwards(() => rmSync(home, { recursive: true }));
  decide(home, ...rules);
  return home;
}

interface Started {
  readonly client: Client;
  readonly pid: number;
}

async function start(home: string, ...more: readonly string[]): Promise<Started> {
  const cli = ["--import", `${root}scripts/source.mjs`, `${root}packages/keyhole/src/cli.ts`];
  const server = ["node", `${root}test/node/mcp-server.ts`];
  const args = [...cli, "wrap", "--name", "rude", "--home", home, ...more, "--", ...server];
  const transport = new StdioClientTransport({ command: process.execPath, args, stderr: "pipe" });
  let said = "";
  transport.stderr?.on("data", (chunk: Buffer) => void (said += chunk.toString()));
  const client = clientOf("2025-11-25");
  afterwards(() => client.close());
  await client.connect(transport).catch((error: Error) => {
    throw new Error(`${error.message} ${said}`);
  });
  return { client, pid: transport.pid ?? 0 };
}

/** Whether it ran, or why not. */
async function called({ client }: Started, name: string): Promise<string> {
  const { isError, content } = await client.callTool({ name, arguments: {} });
  const [first] = content as readonly { readonly text?: string }[];
  return isError === true ? (first?.text ?? "").replace(/\..*/s, ".") : "ran";
}

describe("a home", () => {
  it("counts the calls of clients side by side as one, also when the first is killed, and those of the next start", async () => {
    const refused = "POLICY_DENIED: At most 2 a day.";
    const home = homeFolder(daily);
    const [a, b] = [await start(home), await start(home)];
    const calls = [await called(a, "pid"), await called(b, "pid"), await called(a, "pid"), await called(b, "pid")];
    expect(calls).toEqual(["ran", "ran", refused, refused]);
    process.kill(a.pid, "SIGKILL");
    // The second opens the log, and its client notices nothing.
    const holder = (): string => readFileSync(join(home, "audit.jsonl.pid"), "utf8");
    await expect.poll(holder, { timeout: 60_000 }).toBe(`${b.pid}\n`);
    expect([await called(b, "pid"), await called(b, "env")]).toEqual([refused, "ran"]);
    await b.client.close();
    const c = await start(home);
    expect(await called(c, "pid")).toBe(refused);
    await c.client.close();
    const log = readFileSync(join(home, "audit.jsonl"));
    expect(await verifyAudit(lines([log]))).toMatchObject({ verdict: "unvouched" });
    expect(log.toString().match(/"type":"tool.started"/g)).toHaveLength(3);
  });

  it("keeps labels over starts, but for a session of another name, and refuses a start with another policy", async () => {
    const refused = "POLICY_DENIED: The session read untrusted text.";
    const home = homeFolder(noInjection);
    const a = await start(home);
    expect([await called(a, "env"), await called(a, "pid")]).toEqual(["ran", refused]);
    const b = await start(home, "--session", "new");
    expect(await called(b, "pid")).toBe("ran");
    decide(home);
    await expect(start(home)).rejects.toThrow(`Process ${a.pid} serves this home with another policy.json.`);
    decide(home, noInjection);
    await a.client.close();
    await b.client.close();
    const c = await start(home);
    expect(await called(c, "pid")).toBe(refused);
  });
});
