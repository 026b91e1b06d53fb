import { anyone, bearerTokens, type McpCaller, type McpHandler } from "@keyhole/mcp";
import { serveMcpHttp } from "@keyhole/mcp/node";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";
import { FakeClock } from "../support/fake-clock.ts";
import { answerOf, post, request, send } from "./raw.ts";
import {
  afterwards,
  clientOf,
  closeAfterEach,
  connected,
  eras,
  fetchFrom,
  handlerOf,
  kernelWith,
  overHttp,
  standardTools,
} from "./support.ts";

closeAfterEach();

const echo = { method: "tools/call", params: { name: "echo", arguments: { message: "hello" } } };
const kernel = await kernelWith(standardTools({ deeds: [] }));

const initialize = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1.0.0" } },
});

async function sessionOf(handler: McpHandler, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const response = await handler.fetch(post(initialize, headers));
  await response.text();
  return response.headers.get("mcp-session-id") ?? "";
}

async function pinged(
  handler: McpHandler,
  session: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<number> {
  const message = JSON.stringify({ jsonrpc: "2.0", id: 2, method: "ping" });
  const response = await handler.fetch(post(message, { "mcp-session-id": session, ...headers }));
  await response.text();
  return response.status;
}

describe("an endpoint over HTTP", () => {
  it.each([
    ["a foreign Host", { host: "evil.example" }],
    ["no Host", { host: "" }],
    ["a Host that takes long to read", { host: "xn--".repeat(2_000) }],
    ["an Origin that takes long to read", { origin: `https://${"xn--a".repeat(2_000)}` }],
    ["a foreign Origin", { origin: "https://evil.example" }],
    ["the Origin null", { origin: "null" }],
    ["an Origin that is no URL", { origin: "127.0.0.1" }],
  ])("refuses %s", async (_, headers) => {
    const response = await handlerOf(kernel).fetch(request({ ...echo, headers }));
    expect(response.status).toBe(403);
  });

  it("answers a number that a double cannot hold under the request's id", async () => {
    const message = '{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"id":9007199254740993}}';
    const response = await handlerOf(kernel).fetch(post(message));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      id: "a",
      error: { code: -32_600, message: expect.stringContaining("/params/id") },
    });
  });

  it("takes hosts and origins that it was told, and then no others", async () => {
    const handler = handlerOf(kernel, { hosts: ["tools.example.com"], origins: ["app.example.com"] });
    const statusOf = async (host: string, origin: string) =>
      (await handler.fetch(request({ ...echo, headers: { host, origin } }))).status;
    expect(await statusOf("tools.example.com:8443", "https://app.example.com")).toBe(200);
    expect(await statusOf("127.0.0.1", "https://app.example.com")).toBe(403);
    expect(await statusOf("tools.example.com", "http://localhost")).toBe(403);
  });

  it.each<[string, Request, number, number | undefined]>([
    ["another path", new Request("http://127.0.0.1/other", { headers: { host: "127.0.0.1" } }), 404, undefined],
    ["GET without a session", new Request("http://127.0.0.1/mcp", { headers: { host: "127.0.0.1" } }), 405, -32_000],
    ["another media type", post("{}", { "content-type": "text/plain" }), 415, -32_000],
    ["what is no JSON", post("{"), 400, -32_700],
    ["what is no UTF-8", post(new Uint8Array([0x22, 0xff, 0x22])), 400, -32_700],
    ["a batch of 2025-03-26", post(`[${initialize}]`), 400, -32_600],
    ["an empty batch", post("[]"), 400, -32_600],
    [
      "a request of the older era without a session",
      post('{"jsonrpc":"2.0","id":1,"method":"tools/list"}'),
      400,
      -32_000,
    ],
    ["a session that is not there", post(initialize, { "mcp-session-id": "none" }), 404, -32_001],
  ])("answers %s with a status and a reason", async (_, sent, status, code) => {
    const response = await handlerOf(kernel).fetch(sent);
    expect(response.status).toBe(status);
    if (code !== undefined) expect(await answerOf(response)).toMatchObject({ error: { code } });
  });

  it("reads so many bytes of a request, and not one more", async () => {
    const text = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", pad: "é" });
    const { length } = new TextEncoder().encode(text);
    const handler = handlerOf(kernel, { requestBytes: length });
    expect((await handler.fetch(post(text))).status).toBe(400); // It names no session.
    expect((await handler.fetch(post(`${text} `))).status).toBe(413);
    let pulled = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled++;
        controller.enqueue(new Uint8Array(65_536).fill(32));
      },
    });
    expect((await handlerOf(kernel).fetch(post(endless))).status).toBe(413);
    expect(pulled).toBeLessThan(200);
  });

  it("refuses headers that say something else than the message", async () => {
    const handler = handlerOf(kernel);
    for (const headers of [{ "mcp-method": "tools/list" }, { "mcp-name": "pay" }])
      expect(await send(handler, { ...echo, headers })).toMatchObject({ error: { code: -32_020 } });
  });

  it("answers unknown methods, and notifications that nobody knows", async () => {
    const handler = handlerOf(kernel);
    expect(await send(handler, { method: "tools/burn" })).toMatchObject({ error: { code: -32_601 } });
    expect(await send(handler, { method: "initialize" })).toHaveProperty("error");
  });

  it("answers 500 and tells the program where its own code throws", async () => {
    const heard: string[] = [];
    const authenticate = (): never => {
      throw new Error("The token store is down.");
    };
    const handler = handlerOf(kernel, { authenticate, onError: ({ message }) => heard.push(message) });
    const response = await handler.fetch(request(echo));
    expect([response.status, heard]).toEqual([500, ["The token store is down."]]);
    expect(await response.text()).not.toContain("store");
  });
});

describe("tokens", () => {
  const authenticate = bearerTokens([
    ["a-token-of-ada-0", { caller: "ada" }],
    ["a-token-of-bob-0", { caller: "bob" }],
  ]);
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

  it.each([
    ["no token", {}, "Bearer"],
    ["an unknown token", bearer("a-token-of-eve-0"), 'Bearer error="invalid_token"'],
    ["the beginning of a token", bearer("a-token-of-ada-"), 'Bearer error="invalid_token"'],
    ["another scheme", { authorization: "Basic a-token-of-ada-0" }, "Bearer"],
    ["two tokens", { authorization: "Bearer a-token-of-ada-0 a-token-of-bob-0" }, "Bearer"],
  ])("refuse %s with a challenge", async (_, headers, challenge) => {
    const response = await handlerOf(kernel, { authenticate }).fetch(request({ ...echo, headers }));
    expect([response.status, response.headers.get("www-authenticate")]).toEqual([401, challenge]);
  });

  it("say who calls", async () => {
    const seen = await kernelWith(standardTools({ deeds: [] }));
    await send(handlerOf(seen, { authenticate }), { ...echo, headers: bearer("a-token-of-bob-0") });
    const invoked = (await seen.audit.read()).find(({ type }) => type === "call.invoked");
    expect(invoked).toMatchObject({ payload: { caller: "bob" } });
  });

  it("have at least 16 characters", () => {
    expect(() => bearerTokens([["a-token-of-ada-", { caller: "ada" }]])).toThrow(
      "A token has at least 16 characters; got 15.",
    );
  });
});

it("gives callers of two tenants two sessions, however their names are written", async () => {
  const own = await kernelWith(standardTools({ deeds: [] }));
  const callers: readonly McpCaller[] = [
    { tenant: "a-b", caller: "c" },
    { tenant: "a", caller: "b-c" },
    { caller: "a-b-c" },
    { tenant: "", caller: "a-b-c" },
  ];
  for (const caller of callers)
    await (await connected("http", "2026-07-28", own, { authenticate: () => caller })).callTool(echo.params);
  const events = await own.audit.read();
  expect(new Set(events.flatMap(({ sessionId }) => sessionId ?? [])).size).toBe(callers.length);
});

describe("a session of the older era", () => {
  const authenticate = bearerTokens(["ada", "bob"].map((caller) => [`a-token-of-${caller}-0`, { caller }] as const));
  const as = (caller: string) => ({ authorization: `Bearer a-token-of-${caller}-0` });

  it("serves its own caller, and for another one it is not there", async () => {
    const handler = handlerOf(kernel, { authenticate });
    const session = await sessionOf(handler, as("ada"));
    expect(await pinged(handler, session, as("ada"))).toBe(200);
    expect(await pinged(handler, session, as("bob"))).toBe(404);
    const headers = { host: "127.0.0.1", "mcp-session-id": session, ...as("bob") };
    const ended = await handler.fetch(new Request("http://127.0.0.1/mcp", { method: "DELETE", headers }));
    expect(ended.status).toBe(404);
    expect(await pinged(handler, session, as("ada"))).toBe(200);
  });

  it("is not there for a token of its caller that holds less", async () => {
    const held = { caller: "ada", grants: [{ kind: "net.read", hosts: ["a.example"] }] } as const;
    const tokens = [
      ["a-token-of-ada-0", { caller: "ada" }],
      ["a-token-of-bob-0", held],
    ] as const;
    const handler = handlerOf(kernel, { authenticate: bearerTokens(tokens) });
    for (const [own, other] of [["ada", "bob"] as const, ["bob", "ada"] as const]) {
      const session = await sessionOf(handler, as(own));
      expect(await pinged(handler, session, as(own))).toBe(200);
      expect(await pinged(handler, session, as(other))).toBe(404);
    }
  });

  it("ends when its client ends it, when it rests too long, and with the server", async () => {
    const clock = new FakeClock();
    const handler = handlerOf(kernel, { clock, sessionIdleMs: 1_000 });
    const deleted = await sessionOf(handler);
    const headers = { host: "127.0.0.1", "mcp-session-id": deleted };
    await handler.fetch(new Request("http://127.0.0.1/mcp", { method: "DELETE", headers }));
    expect(await pinged(handler, deleted)).toBe(404);
    const idle = await sessionOf(handler);
    await clock.advance(999);
    expect(await pinged(handler, idle)).toBe(200);
    await clock.advance(1_000);
    expect(await pinged(handler, idle)).toBe(404);
  });

  it("gives way to newer ones of its caller, and of all callers, when there are too many", async () => {
    const handler = handlerOf(kernel, { authenticate, sessions: 3, sessionsPerCaller: 2 });
    const first = await sessionOf(handler, as("ada"));
    const second = await sessionOf(handler, as("ada"));
    expect(await pinged(handler, first, as("ada"))).toBe(200); // Now the second one rests longest.
    const third = await sessionOf(handler, as("ada"));
    expect(await pinged(handler, second, as("ada"))).toBe(404);
    expect([await pinged(handler, first, as("ada")), await pinged(handler, third, as("ada"))]).toEqual([200, 200]);
    await sessionOf(handler, as("bob"));
    await sessionOf(handler, as("bob"));
    expect([await pinged(handler, first, as("ada")), await pinged(handler, third, as("ada"))]).toEqual([404, 200]);
  });

  it("stays where another caller opens many, also when it rests longest", async () => {
    const handler = handlerOf(kernel, { authenticate, sessions: 3 });
    const own = await sessionOf(handler, as("bob"));
    for (let i = 0; i < 5; i++) await sessionOf(handler, as("ada"));
    expect(await pinged(handler, own, as("bob"))).toBe(200);
  });

  it("keeps no place for an initialize that was refused", async () => {
    const handler = handlerOf(kernel, { sessions: 1 });
    const session = await sessionOf(handler);
    const refused = await handler.fetch(post(initialize, { accept: "text/plain" }));
    expect(refused.status).toBe(406);
    expect(await pinged(handler, session)).toBe(404); // Room was made for it.
    expect(await pinged(handler, await sessionOf(handler))).toBe(200);
  });
});

describe("a server on Node", () => {
  it.each(eras)("answers real clients in %s at its own address", async (era) => {
    const server = await serveMcpHttp(kernel, { authenticate: anyone({ caller: "desk" }) });
    afterwards(() => server.close());
    const client = clientOf(era);
    await client.connect(new StreamableHTTPClientTransport(new URL(server.url)));
    afterwards(() => client.close());
    const result = await client.callTool({ name: "echo", arguments: { message: "hello" } });
    expect(result.structuredContent).toEqual({ message: "hello" });
  });

  it("listens for others only when it knows its names", async () => {
    const authenticate = anyone({ caller: "desk" });
    await expect(serveMcpHttp(kernel, { authenticate, address: "0.0.0.0" })).rejects.toThrow(/Name the hosts/);
  });

  it("says why it cannot listen", async () => {
    const authenticate = anyone({ caller: "desk" });
    const server = await serveMcpHttp(kernel, { authenticate });
    afterwards(() => server.close());
    const port = Number(new URL(server.url).port);
    await expect(serveMcpHttp(kernel, { authenticate, port })).rejects.toThrow(/EADDRINUSE/);
  });
});

it("a client of the older era is served beside one of the newer", async () => {
  const handler = handlerOf(kernel);
  const [old, young] = [
    await overHttp(handler, clientOf("2025-11-25")),
    await overHttp(handler, clientOf("2026-07-28")),
  ];
  expect([old.getProtocolEra(), young.getProtocolEra()]).toEqual(["legacy", "modern"]);
  expect((await old.listTools()).tools.length).toBe((await young.listTools()).tools.length);
  const auto = clientOf("2026-07-28", { versionNegotiation: { mode: "auto" } });
  await auto.connect(new StreamableHTTPClientTransport(new URL("http://127.0.0.1/mcp"), { fetch: fetchFrom(handler) }));
  expect(auto.getNegotiatedProtocolVersion()).toBe("2026-07-28");
  await auto.close();
});
