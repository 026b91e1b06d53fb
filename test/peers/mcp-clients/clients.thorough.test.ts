import { defineTool, type Kernel, type Tool } from "@keyhole/kernel";
import { bearerTokens } from "@keyhole/mcp";
import { serveMcpHttp } from "@keyhole/mcp/node";
import { describe, expect, it } from "vitest";
import { Desk } from "../../mcp/asking.ts";
import { afterwards, closeAfterEach, kernelWith, register, standardTools } from "../../mcp/support.ts";
import { clients, type Connected, type Foreign } from "./drivers.ts";

/* Clients that others wrote, against one server of ours over HTTP. */

closeAfterEach();

const token = "0123456789abcdef";

interface World {
  readonly kernel: Kernel;
  readonly client: Connected;
  readonly approvals: Desk;
  readonly deeds: string[];
  /** Resolves when the tool that waits runs, and when it was told to stop. */
  readonly waits: Promise<void>;
  readonly stopped: Promise<void>;
}

function waitingTool(onWait: () => void, onStop: () => void): Tool<never, unknown> {
  return defineTool({
    name: "wait",
    version: "1.0.0",
    description: "Waits.",
    determinism: "external",
    bounds: { timeoutMs: 600_000 },
    input: { type: "object" },
    output: { kind: "text" },
    async execute(_, { signal }) {
      onWait();
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      onStop();
      return "stopped";
    },
  }) as unknown as Tool<never, unknown>;
}

const steps = defineTool({
  name: "steps",
  version: "1.0.0",
  description: "Reports progress.",
  determinism: "external",
  input: { type: "object" },
  output: { kind: "text" },
  execute(_, { progress }) {
    for (const done of [1, 2, 3]) progress({ done, total: 3 });
    return "three";
  },
}) as unknown as Tool<never, unknown>;

async function worldOf({ connect }: Foreign): Promise<World> {
  const deeds: string[] = [];
  const [waits, stopped] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const kernel = await kernelWith(standardTools({ deeds }));
  register(kernel, waitingTool(waits.resolve, stopped.resolve), steps);
  const approvals = new Desk();
  const authenticate = bearerTokens([[token, { caller: "desk" }]]);
  const server = await serveMcpHttp(kernel, { authenticate, approvals });
  afterwards(() => server.close());
  const client = await connect(server.url, token);
  afterwards(() => client.close());
  return { kernel, client, approvals, deeds, waits: waits.promise, stopped: stopped.promise };
}

describe.each(Object.entries(clients))("%s", (_, foreign) => {
  it("lists what the caller may call, calls it, and has the kernel's own hash", async () => {
    const { kernel, client } = await worldOf(foreign);
    const names = [...(await client.list())].toSorted();
    expect(names).toEqual(["echo", "fail", "pay", "refund", "steps", "wait"]);
    const own = await kernel.call("echo", { message: "hello" });
    const result = await client.call("echo", { message: "hello" });
    expect(result).toMatchObject({
      structuredContent: { message: "hello" },
      ...(foreign.isWhole && { _meta: { "keyhole/hash": own.ok && own.hash } }),
    });
  });

  it("is told of a denial and of a tool's fault as data", async () => {
    const { client, deeds } = await worldOf(foreign);
    const denied = await client.call("refund", { amount: 10 });
    expect(denied).toMatchObject({ isError: true, _meta: { "keyhole/error": { code: "POLICY_DENIED" } } });
    const failed = await client.call("fail", {});
    expect(failed).toMatchObject({ isError: true, _meta: { "keyhole/error": { code: "TOOL_ERROR" } } });
    expect(deeds).toEqual([]);
  });

  it("waits while a person is asked, and has the result of the one deed", async () => {
    const { client, approvals, deeds } = await worldOf(foreign);
    const asked = approvals.asked;
    const called = client.call("pay", { amount: 5 });
    const { approvalId } = await asked;
    expect(deeds).toEqual([]);
    approvals.answer(approvalId, "allow");
    expect(await called).toMatchObject({ content: [{ text: "paid 5" }] });
    expect(deeds).toEqual(["paid 5"]);
  });

  it("has the result of a call that streams its progress", async () => {
    const { client } = await worldOf(foreign);
    const reports: number[] = [];
    const onProgress = (done: number): void => void reports.push(done);
    const result = await client.call("steps", {}, foreign.hasProgress ? { onProgress } : {});
    expect(result).toMatchObject({ content: [{ text: "three" }] });
    expect(reports).toEqual(foreign.hasProgress ? [1, 2, 3] : []);
  });

  it.runIf(foreign.cancels)("ends the call when its user does", async () => {
    const { client, waits, stopped } = await worldOf(foreign);
    const stop = new AbortController();
    const called = client.call("wait", {}, { signal: stop.signal }).catch(() => "ended");
    await waits;
    stop.abort();
    expect(await called).toBe("ended");
    await stopped;
  });
});
