import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterwards, clientOf } from "../mcp/support.ts";
import { root } from "../support/sources.ts";

/* A home, and clients with a process each. */

const node = {
  kind: "process.spawn",
  commands: [{ command: "node", args: [{ prefix: "/" }, { rest: { prefix: "" } }] }],
};
export const daily = {
  id: "daily",
  effect: "deny",
  when: { tool: ["rude_pid"], count: { windowMs: 86_400_000, moreThan: 2 } },
  reason: "At most so many a day.",
};
export const noInjection = {
  id: "no-injection",
  effect: "deny",
  when: { tool: ["rude_pid"], labels: ["untrusted"] },
  reason: "The session read untrusted text.",
};

export function decide(home: string, ...rules: readonly object[]): void {
  const labels = { untrusted: { tools: ["rude_env"] } };
  const policy = { version: "1", posture: "permissive", grants: [{ tool: "*", capability: node }], labels, rules };
  writeFileSync(join(home, "policy.json"), JSON.stringify(policy));
}

export function homeFolder(...rules: readonly object[]): string {
  const home = mkdtempSync(join(tmpdir(), "keyhole-home-"));
  afterwards(() => rmSync(home, { recursive: true }));
  decide(home, ...rules);
  return home;
}

interface Started {
  readonly client: Client;
  readonly pid: number;
}

export async function start(home: string, ...more: readonly string[]): Promise<Started> {
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
export async function called({ client }: Started, name: string): Promise<string> {
  const { isError, content } = await client.callTool({ name, arguments: {} });
  const [first] = content as readonly { readonly text?: string }[];
  return isError === true ? (first?.text ?? "").replace(/\..*/s, ".") : "ran";
}
