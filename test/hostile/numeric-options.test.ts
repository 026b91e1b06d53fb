import { AgentRun } from "@keyhole/agents/agent-run";
import type { Kernel } from "@keyhole/kernel";
import { mcpHandler } from "@keyhole/mcp";
import { dbBroker } from "@keyhole/worker-host/brokers/db";
import { memoryStore } from "@keyhole/worker-host/brokers/files";
import { memoryKv } from "@keyhole/worker-host/brokers/kv";
import { browserHost } from "@keyhole/worker-host/browser";
import { nodeHost, spawnBroker } from "@keyhole/worker-host/node";
import { interpreterHost } from "@keyhole/worker-host/wasm/interpreter";
import { describe, expect, it } from "vitest";
import { openKernel } from "../support/kernel.ts";

type Taker = (options: never, kernel: Kernel) => unknown;
const none = {} as never;
const container = { open: () => Promise.reject(new Error("no frame")) } as never;

/** Options that are numbers, each with its least. */
const numbers: readonly (readonly [owner: string, name: string, least: number, taker: Taker])[] = [
  ["AgentRun", "steps", 1, (options, kernel) => new AgentRun({ ...(options as object), kernel, ask: () => none })],
  ...(["calls", "tokens", "fuel"] as const).map(
    (name) =>
      [
        "The budget of AgentRun",
        name,
        0,
        (budget, kernel) => new AgentRun({ budget, kernel, ask: () => none }),
      ] satisfies (typeof numbers)[number],
  ),
  ["dbBroker", "rows", 1, (options) => dbBroker({}, options)],
  ["memoryStore", "totalBytes", 0, (options) => memoryStore(options)],
  ["memoryKv", "keyCount", 0, (options) => memoryKv(options)],
  ["browserHost", "maxIsolates", 1, (options) => browserHost({ container, ...(options as object) })],
  ["interpreterHost", "fuel", 1, (options) => interpreterHost({ engine: none, ...(options as object) })],
  ["nodeHost", "startTimeoutMs", 1, (options) => nodeHost(options)],
  ["spawnBroker", "stdoutBytes", 0, (options) => spawnBroker({ commands: {}, ...(options as object) })],
  [
    "mcpHandler",
    "sessionsPerCaller",
    1,
    (options, kernel) => mcpHandler(kernel, { authenticate: none, ...(options as object) }),
  ],
];

describe("an option that is a number", () => {
  it.each(numbers)("of %s has a least: %s", async (owner, name, least, take) => {
    const { kernel } = await openKernel();
    const taken = async (value: unknown): Promise<unknown> => take({ [name]: value } as never, kernel);
    // Each comparison with the first is false, so a limit of it would be none.
    for (const value of [NaN, Infinity, least - 1, least + 0.5, String(least), null])
      await expect(taken(value)).rejects.toThrow(
        `${owner} takes a whole number from ${least} as \`${name}\`, not ${typeof value === "number" ? value : typeof value}.`,
      );
  });
});
