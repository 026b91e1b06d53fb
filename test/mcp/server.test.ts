import { defineTool, hashText, type Tool } from "@keyhole/kernel";
import { sha256Hash } from "@keyhole/kernel/sha256";
import { contentStore } from "@keyhole/worker-host/content";
import { memoryStore } from "@keyhole/worker-host/brokers/files";
import { describe, expect, it } from "vitest";
import { closeAfterEach, connected, eras, type Era, kernelWith, register, standardTools, type Way } from "./support.ts";

closeAfterEach();

const lines = eras.flatMap((era) => (["http", "port"] as const).map((way) => [way, era] as const));
const base = { version: "1.0.0", determinism: "external", input: { type: "object" } } as const;
const any = (tool: unknown): Tool<never, unknown> => tool as Tool<never, unknown>;

describe.each(lines)("over %s in %s", (way: Way, era: Era) => {
  it("lists the tools that the caller could call, with hints, schemas and titles", async () => {
    const client = await connected(way, era, await kernelWith(standardTools({ deeds: [] })));
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["echo", "fail", "pay", "refund"]);
    expect(tools[0]).toMatchObject({
      name: "echo",
      title: "Echo",
      inputSchema: { required: ["message"], additionalProperties: false },
      outputSchema: { required: ["message"] },
      annotations: { readOnlyHint: true, destructiveHint: false },
    });
    expect(tools[2]).toMatchObject({ annotations: { readOnlyHint: false, destructiveHint: true } });
  });

  it("calls a tool: structured content, its text, and the hash that the kernel gives anywhere", async () => {
    const kernel = await kernelWith(standardTools({ deeds: [] }));
    const client = await connected(way, era, kernel);
    const result = await client.callTool({ name: "echo", arguments: { message: "hello" } });
    const own = await kernel.call("echo", { message: "hello" });
    expect(result).toMatchObject({
      content: [{ type: "text", text: '{"message":"hello"}' }],
      structuredContent: { message: "hello" },
      _meta: { "keyhole/hash": own.ok && own.hash, "keyhole/decision": "allow" },
    });
  });

  it.each<[string, string, object, string]>([
    ["a denied call", "refund", { amount: 10 }, "POLICY_DENIED"],
    ["a call with wrong arguments", "echo", { message: 1 }, "INVALID_INPUT"],
    ["a tool that throws", "fail", {}, "TOOL_ERROR"],
  ])("answers %s with a code that the model reads", async (_, name, input, code) => {
    const deeds: string[] = [];
    const client = await connected(way, era, await kernelWith(standardTools({ deeds })));
    const result = await client.callTool({ name, arguments: { ...input } });
    expect(result).toMatchObject({ isError: true, _meta: { "keyhole/error": { code } } });
    expect(JSON.stringify(result.content)).toContain(code);
    expect(JSON.stringify(result)).not.toContain("operatorHint");
    expect(deeds).toEqual([]);
  });

  it("shows the model the value of a tool whose output is refused", async () => {
    const kernel = await kernelWith([
      any(
        defineTool({
          ...base,
          name: "order",
          description: "Orders.",
          output: { kind: "text" },
          execute: () => [7] as never,
        }),
      ),
    ]);
    const client = await connected(way, era, kernel);
    const { content } = await client.callTool({ name: "order", arguments: {} });
    expect(content).toEqual([{ type: "text", text: expect.stringMatching(/^NOT_NORMALIZABLE: .*\[7\]$/) }]);
  });

  it.each(["nothing_like_it", "wipe", "__proto__", ""])("knows no tool %j, hidden or not there", async (name) => {
    const deeds: string[] = [];
    const client = await connected(way, era, await kernelWith(standardTools({ deeds })));
    await expect(client.callTool({ name, arguments: {} })).rejects.toMatchObject({ code: -32_602 });
    expect(deeds).toEqual([]);
  });

  it("gives bytes as pictures, sounds, text or a resource, by their media type", async () => {
    const kernel = await kernelWith([]);
    const bytes = new TextEncoder().encode("hello");
    const kinds = { picture: "image/png", sound: "audio/wav", page: "text/html", archive: "application/zip" };
    for (const [name, mediaType] of Object.entries(kinds)) {
      const output = { kind: "binary", mediaType } as const;
      register(kernel, any(defineTool({ ...base, name, description: "Bytes.", output, execute: () => bytes.slice() })));
    }
    const client = await connected(way, era, kernel);
    const blockOf = async (name: string) => (await client.callTool({ name, arguments: {} })).content[0];
    const data = btoa("hello");
    expect(await blockOf("picture")).toMatchObject({ type: "image", data, mimeType: "image/png" });
    expect(await blockOf("sound")).toMatchObject({ type: "audio", data, mimeType: "audio/wav" });
    expect(await blockOf("page")).toMatchObject({
      type: "resource",
      resource: { text: "hello", mimeType: "text/html" },
    });
    expect(await blockOf("archive")).toMatchObject({
      type: "resource",
      resource: { blob: data, mimeType: "application/zip" },
    });
  });

  it("holds a stream up to 4 MiB, and fails one byte past it", async () => {
    const tool = defineTool({
      ...base,
      name: "flow",
      description: "Bytes that flow.",
      bounds: { outputBytes: 10_000_000 },
      input: { type: "object", properties: { length: { type: "integer" } }, required: ["length"] },
      output: { kind: "stream", mediaType: "application/zip" },
      async *execute({ length }) {
        for (let at = 0; at < length; at += 262_144) yield new Uint8Array(Math.min(262_144, length - at));
      },
    });
    const client = await connected(way, era, await kernelWith([any(tool)]));
    const whole = await client.callTool({ name: "flow", arguments: { length: 4_194_304 } });
    expect(whole.content[0]).toMatchObject({ type: "resource", resource: { blob: "A".repeat(5_592_404) + "AA==" } });
    const beyond = await client.callTool({ name: "flow", arguments: { length: 4_194_305 } });
    expect(beyond).toMatchObject({ isError: true, _meta: { "keyhole/error": { code: "CANCELLED" } } });
  });

  it("gives a large output as a link that this caller alone can read", async () => {
    const large = "x".repeat(1_048_577);
    const bounds = { outputBytes: 2_000_000 };
    const tool = defineTool({
      ...base,
      name: "large",
      description: "A lot.",
      bounds,
      output: { kind: "text" },
      execute: () => large,
    });
    const content = contentStore(memoryStore());
    const kernel = await kernelWith([any(tool)], { content });
    const stateKey = new Uint8Array(32).fill(7);
    const client = await connected(way, era, kernel, { content, stateKey });
    const result = await client.callTool({ name: "large", arguments: {} });
    expect(result.content).toMatchObject([{ type: "resource_link", mimeType: "text/plain", size: large.length }]);
    const { uri } = result.content[0] as { readonly uri: string };
    expect(uri).toContain(hashText(large).replace("blake3:", ""));
    expect((await client.readResource({ uri })).contents).toMatchObject([{ text: large }]);
    const other = await connected("http", era, kernel, {
      content,
      stateKey,
      authenticate: () => ({ caller: "other" }),
    });
    await expect(other.readResource({ uri })).rejects.toThrow(/no such output/);
    const forged = `${uri.slice(0, -1)}${uri.endsWith("A") ? "B" : "A"}`;
    await expect(client.readResource({ uri: forged })).rejects.toThrow(/no such output/);
  });

  it("gives no other bytes than the digest says, also in SHA-256", async () => {
    const tool = defineTool({
      ...base,
      name: "large",
      description: "A lot.",
      bounds: { outputBytes: 2_000_000 },
      output: { kind: "text" },
      execute: () => "x".repeat(1_048_577),
    });
    const content = { ...contentStore(memoryStore()), get: async () => new Uint8Array([1]) };
    const kernel = await kernelWith([any(tool)], { content, hash: sha256Hash });
    const client = await connected(way, era, kernel, { content, stateKey: new Uint8Array(32).fill(7) });
    const result = await client.callTool({ name: "large", arguments: {} });
    const { uri } = result.content[0] as { readonly uri: string };
    await expect(client.readResource({ uri })).rejects.toThrow(/other bytes/);
  });

  it("carries progress that grows, and log lines", async () => {
    const tool = defineTool({
      ...base,
      name: "work",
      description: "Works.",
      output: { kind: "text" },
      execute(_, { progress, log }) {
        for (const done of [1, 2, 2, 1, 3]) progress({ done, total: 3, message: `step ${done}` });
        log("half done", "warn");
        return "done";
      },
    });
    const client = await connected(way, era, await kernelWith([any(tool)]));
    const heard: unknown[] = [];
    const logged: unknown[] = [];
    client.setNotificationHandler("notifications/message", ({ params }) => void logged.push(params));
    const _meta = { "io.modelcontextprotocol/logLevel": "info" };
    if (era === "2025-11-25") await client.setLoggingLevel("info");
    const params = { name: "work", arguments: {}, ...(era === "2026-07-28" && { _meta }) };
    await client.callTool(params, { onprogress: (each) => heard.push(each) });
    expect(heard).toMatchObject([1, 2, 3].map((progress) => ({ progress, total: 3, message: `step ${progress}` })));
    expect(logged).toMatchObject([{ level: "warning", data: "half done" }]);
  });

  it("cancels the call when the client does", async () => {
    const started = Promise.withResolvers<void>();
    const stopped = Promise.withResolvers<string>();
    const tool = defineTool({
      ...base,
      name: "wait",
      description: "Waits.",
      bounds: { timeoutMs: 600_000 },
      output: { kind: "text" },
      async execute(_, { signal }) {
        started.resolve();
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
        stopped.resolve("stopped");
        return "stopped";
      },
    });
    const kernel = await kernelWith([any(tool)]);
    const client = await connected(way, era, kernel);
    const cancel = new AbortController();
    const called = client.callTool({ name: "wait", arguments: {} }, { signal: cancel.signal });
    await started.promise;
    cancel.abort("enough");
    await expect(called).rejects.toThrow("enough");
    expect(await stopped.promise).toBe("stopped");
    await expect
      .poll(async () => (await kernel.audit.read()).at(-1))
      .toMatchObject({ type: "tool.failed", payload: { code: "CANCELLED" } });
  });

  it("makes the client's span the parent of the call's", async () => {
    const kernel = await kernelWith(standardTools({ deeds: [] }));
    const client = await connected(way, era, kernel);
    const trace = "0af7651916cd43dd8448eb211c80319c";
    const _meta = { traceparent: `00-${trace}-b7ad6b7169203331-01` };
    await client.callTool({ name: "echo", arguments: { message: "x" }, _meta });
    expect((await kernel.audit.read()).at(-1)?.traceparent).toMatch(`00-${trace}-`);
  });

  it("gives pages of tools, and refuses a cursor that it did not give", async () => {
    const names = Array.from({ length: 7 }, (_, at) => `tool_${at}`);
    const tools = names.map((name) =>
      any(defineTool({ ...base, name, description: "One of many.", output: { kind: "text" }, execute: () => name })),
    );
    const client = await connected(way, era, await kernelWith(tools), { pageSize: 3 });
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(names);
    const request = (cursor: string) => client.request({ method: "tools/list", params: { cursor } });
    const first = await client.request({ method: "tools/list", params: {} });
    expect(first.tools).toHaveLength(3);
    const second = await request(first.nextCursor ?? "");
    expect(second.tools.map(({ name }) => name)).toEqual(["tool_3", "tool_4", "tool_5"]);
    expect(await request(second.nextCursor ?? "")).not.toHaveProperty("nextCursor");
    for (const cursor of ["", "?", "dG9vbF8y=", btoa("Tool"), `${first.nextCursor}A`])
      await expect(request(cursor)).rejects.toMatchObject({ code: -32_602 });
  });

  it("tells of changed tools", async () => {
    const kernel = await kernelWith([]);
    const heard = Promise.withResolvers<readonly string[]>();
    const onChanged = (_: unknown, tools: readonly { readonly name: string }[] | null): void =>
      heard.resolve((tools ?? []).map(({ name }) => name));
    const client = await connected(way, era, kernel, { client: { listChanged: { tools: { onChanged } } } });
    expect((await client.listTools()).tools).toEqual([]);
    register(kernel, ...standardTools({ deeds: [] }));
    expect(await heard.promise).toEqual(["echo", "fail", "pay", "refund"]);
  });
});
