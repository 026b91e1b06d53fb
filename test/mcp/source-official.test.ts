import { createKernel, type Kernel, type PolicyDocument } from "@keyhole/kernel";
import { mcpHttp, mcpSource, type McpSource, type McpSourceOptions } from "@keyhole/mcp";
import { createMcpHandler, fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { describe, expect, it } from "vitest";
import {
  afterwards,
  closeAfterEach,
  connected,
  type Era,
  eras,
  fetchFrom,
  handlerOf,
  kernelWith,
  standardTools,
} from "./support.ts";

closeAfterEach();

const url = "http://127.0.0.1/mcp";
const reach = { hosts: ["127.0.0.1"], ports: [80] };
const policy: PolicyDocument = {
  version: "1",
  posture: "permissive",
  grants: [
    { tool: "*", capability: { kind: "net.read", ...reach } },
    { tool: "*", capability: { kind: "net.write", ...reach } },
  ],
};

async function sourceOver(
  era: Era,
  fetch: (url: string | URL, init?: RequestInit) => Promise<Response>,
  more: Partial<McpSourceOptions> = {},
): Promise<{ readonly kernel: Kernel; readonly source: McpSource }> {
  const kernel = await createKernel({ policy });
  afterwards(() => kernel.close());
  const source = await mcpSource(kernel, { name: "far", server: mcpHttp({ url, fetch }), era, ...more });
  afterwards(() => source.close());
  return { kernel, source };
}

const sum = fromJsonSchema<{ a: number; b: number }>({
  type: "object",
  properties: { a: { type: "number" }, b: { type: "number" } },
  required: ["a", "b"],
});
const total = fromJsonSchema<{ total: number }>({
  type: "object",
  properties: { total: { type: "number" } },
  required: ["total"],
});

/** A server of the official SDK, for 2026-07-28. */
function officialFetch(resultLength: number): (url: string | URL, init?: RequestInit) => Promise<Response> {
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: "official", version: "1.0.0" });
    server.registerTool("add", { description: "Adds.", inputSchema: sum, outputSchema: total }, ({ a, b }) => ({
      content: [{ type: "text", text: String(a + b) }],
      structuredContent: { total: a + b },
    }));
    server.registerTool("fill", { description: "Fills." }, () => ({
      content: [{ type: "text", text: "x".repeat(resultLength) }],
    }));
    return server;
  });
  afterwards(() => handler.close());
  return (to, init) => handler.fetch(new Request(to, init));
}

describe("a server of the official SDK", () => {
  it("has its tools in the kernel, with structured content and its schemas", async () => {
    const { kernel } = await sourceOver("2026-07-28", officialFetch(1));
    expect(kernel.list().map(({ manifest }) => manifest.name)).toEqual(["far_add", "far_fill"]);
    const added = await kernel.call("far_add", { a: 1, b: 2 });
    expect(added).toMatchObject({ ok: true, data: { structuredContent: { total: 3 } } });
    expect(await kernel.call("far_add", { a: "1", b: 2 })).toMatchObject({ error: { code: "INVALID_INPUT" } });
  });

  it("that sends more than a message may have is cut off, and the next call connects again", async () => {
    const { kernel } = await sourceOver("2026-07-28", officialFetch(2_000_000), { resultBytes: 100_000 });
    const result = await kernel.call("far_fill", {});
    expect(result).toMatchObject({ ok: false, error: { code: "TOOL_ERROR" } });
    expect(JSON.stringify(result)).toContain("a message of more than 1148576 bytes");
    expect(await kernel.call("far_add", { a: 1, b: 2 })).toMatchObject({ ok: true });
  });
});

it.each(eras)("tools of a server that are served again keep their own output schemas, in %s", async (era) => {
  const number = { type: "object", properties: { total: { type: "number" } }, required: ["total"] };
  const word = { type: "object", properties: { word: { type: "string" } }, required: ["word"] };
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: "official", version: "1.0.0" });
    const of = (structuredContent: Record<string, unknown>) => () => ({ content: [], structuredContent });
    server.registerTool("count", { description: "Counts.", outputSchema: fromJsonSchema(number) }, of({ total: 1 }));
    server.registerTool("spell", { description: "Spells.", outputSchema: fromJsonSchema(word) }, of({ word: "a" }));
    return server;
  });
  afterwards(() => handler.close());
  const { kernel } = await sourceOver("2026-07-28", (to, init) => handler.fetch(new Request(to, init)));
  const client = await connected("http", era, kernel);
  const { tools } = await client.listTools();
  expect(tools.map(({ outputSchema }) => outputSchema)).toEqual([number, word]);
  // The client checks each result by the schema of its tool.
  expect(await client.callTool({ name: "far_count", arguments: {} })).toMatchObject({
    structuredContent: { total: 1 },
  });
  expect(await client.callTool({ name: "far_spell", arguments: {} })).toMatchObject({
    structuredContent: { word: "a" },
  });
});

describe.each(eras)("our own server as a source in %s", (era) => {
  it("gives each tool's result, and each refusal of the far policy", async () => {
    const deeds: string[] = [];
    const far = await kernelWith(standardTools({ deeds }));
    const { kernel, source } = await sourceOver(era, fetchFrom(handlerOf(far)), { tiers: { refund: 2 } });
    expect(source.tools.map(({ name, state }) => [name, state])).toEqual([
      ["far_echo", "open"],
      ["far_fail", "open"],
      ["far_pay", "open"],
      ["far_refund", "open"],
    ]);
    expect(await kernel.call("far_echo", { message: "hello" })).toMatchObject({
      data: { structuredContent: { message: "hello" } },
    });
    const refused = await kernel.call("far_refund", { amount: 10 });
    expect(JSON.stringify(refused)).toContain("POLICY_DENIED");
    expect(deeds).toEqual([]);
  });
});

describe("a server over HTTP", () => {
  it("that redirects is refused", async () => {
    const fetch = async (_: string | URL, init?: RequestInit): Promise<Response> => {
      if (init?.redirect === "error") throw new TypeError("unexpected redirect");
      return Response.json({});
    };
    await expect(sourceOver("2026-07-28", fetch)).rejects.toThrow(/redirect/);
  });

  it("that refuses its list is no source, with its status and words as the reason", async () => {
    const fetch = async (_: string | URL, init?: RequestInit): Promise<Response> => {
      const { id, method } = JSON.parse(typeof init?.body === "string" ? init.body : "{}") as Record<string, unknown>;
      if (method === "tools/list") return new Response("The database is down.", { status: 503 });
      const serverInfo = { name: "far", version: "1.0.0" };
      const result = { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo };
      return method === "initialize"
        ? Response.json({ jsonrpc: "2.0", id, result })
        : new Response(null, { status: 202 });
    };
    await expect(sourceOver("2025-11-25", fetch)).rejects.toThrow(/status 503.*The database is down\./);
  });

  it("needs a URL of HTTP", () => {
    for (const wrong of ["file:///etc/passwd", "localhost", "", "data:,x"])
      expect(() => mcpHttp({ url: wrong })).toThrow("is no URL of HTTP");
  });
});
