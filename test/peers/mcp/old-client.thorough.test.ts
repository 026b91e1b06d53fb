import { defineTool, type Tool } from "@keyhole/kernel";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema, McpError, ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect, it } from "vitest";
import { Desk, pageOf } from "../../mcp/asking.ts";
import {
  afterwards,
  closeAfterEach,
  fetchFrom,
  handlerOf,
  kernelWith,
  register,
  standardTools,
} from "../../mcp/support.ts";

/** The client of the SDK 1.x, which most programs have. */

closeAfterEach();

async function connected() {
  const deeds: string[] = [];
  const approvals = new Desk();
  const kernel = await kernelWith(standardTools({ deeds }));
  const send = fetchFrom(handlerOf(kernel, { approvals }));
  const listens = Promise.withResolvers<void>();
  const fetch: typeof send = async (url, init) => {
    const response = await send(url, init);
    if (init?.method === "GET") listens.resolve();
    return response;
  };
  const client = new Client({ name: "old", version: "1.0.0" }, { capabilities: { elicitation: { url: {} } } });
  await client.connect(new StreamableHTTPClientTransport(new URL("http://127.0.0.1/mcp"), { fetch }));
  afterwards(() => client.close());
  await listens.promise;
  return { kernel, client, approvals, deeds };
}

it("lists, calls, and reads a denial", async () => {
  const { kernel, client, deeds } = await connected();
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["echo", "fail", "pay", "refund"]);
  const result = await client.callTool({ name: "echo", arguments: { message: "hello" } });
  const own = await kernel.call("echo", { message: "hello" });
  expect(result).toMatchObject({
    structuredContent: { message: "hello" },
    _meta: { "keyhole/hash": own.ok && own.hash },
  });
  const denied = await client.callTool({ name: "refund", arguments: { amount: 10 } });
  expect(denied).toMatchObject({ isError: true, _meta: { "keyhole/error": { code: "POLICY_DENIED" } } });
  await expect(client.callTool({ name: "wipe", arguments: {} })).rejects.toBeInstanceOf(McpError);
  expect(deeds).toEqual([]);
});

it("is led to a page by a question, and gets the result after a yes", async () => {
  const { client, approvals, deeds } = await connected();
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    if (params.mode !== "url") throw new Error("It asked for a form.");
    approvals.answer(pageOf(params.url), "allow");
    return { action: "accept" };
  });
  expect(await client.callTool({ name: "pay", arguments: { amount: 5 } })).toMatchObject({
    content: [{ text: "paid 5" }],
  });
  expect(deeds).toEqual(["paid 5"]);
});

it("hears progress, cancels, and hears of changed tools", async () => {
  const { kernel, client } = await connected();
  const stopped = Promise.withResolvers<string>();
  const changed = Promise.withResolvers<string>();
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => changed.resolve("changed"));
  const tool = defineTool({
    name: "wait",
    version: "1.0.0",
    description: "Waits.",
    determinism: "external",
    bounds: { timeoutMs: 600_000 },
    input: { type: "object" },
    output: { kind: "text" },
    async execute(_, { signal, progress }) {
      progress({ done: 1, total: 2 });
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      stopped.resolve("stopped");
      return "stopped";
    },
  });
  register(kernel, tool as unknown as Tool<never, unknown>);
  expect(await changed.promise).toBe("changed");
  const cancel = new AbortController();
  const onprogress = (): void => cancel.abort("enough");
  const called = client.callTool({ name: "wait", arguments: {} }, undefined, { signal: cancel.signal, onprogress });
  await expect(called).rejects.toThrow(/enough/);
  expect(await stopped.promise).toBe("stopped");
});
