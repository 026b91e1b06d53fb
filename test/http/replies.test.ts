import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { type Capability, createKernel, type CallResult } from "@keyhole/kernel";
import { secretKeeper } from "@keyhole/kernel/secrets";
import { httpHost } from "@keyhole/worker-host/http";
import { netBroker } from "@keyhole/worker-host/brokers/net";
import { afterEach, describe, expect, it } from "vitest";
import { FakeClock, passUntil } from "../support/fake-clock.ts";
import { grantingAll, json, openHttpKernel, requestTool, type Send } from "./support.ts";

const url = "https://example.com/{id}";

async function callOn(send: Send, http: object = {}, more: object = {}): Promise<CallResult> {
  const clock = new FakeClock();
  const arrived = Promise.withResolvers<void>();
  const noted: Send = (request) => (arrived.resolve(), send(request));
  const kernel = await openHttpKernel([requestTool({ url, ...http }, more)], noted, { clock });
  const result = await passUntil(clock, arrived.promise, kernel.call("subject", { id: "a" }));
  await kernel.close();
  return result;
}

const invalid = (message: string): object => ({
  error: {
    code: "TOOL_ERROR",
    message: expect.stringContaining(message) as string,
    details: { name: "INVALID_REPLY" },
  },
});

describe("a reply that is not what it says", () => {
  it.each([
    [
      "an error page in the place of JSON",
      new Response("<html>", { headers: { "content-type": "text/html" } }),
      "text/html",
    ],
    ["JSON without a type", new Response(new Uint8Array([123, 125])), "without a media type"],
    ["a type that is like JSON", new Response("{}", { headers: { "content-type": "application/jsonp" } }), "jsonp"],
    [
      "text under the type of JSON",
      new Response("no", { headers: { "content-type": "application/json" } }),
      "is not JSON",
    ],
    ["JSON that is cut off", new Response('{"a":', { headers: { "content-type": "application/json" } }), "is not JSON"],
    [
      "bytes that are no text",
      new Response(new Uint8Array([34, 0xff, 34]), { headers: { "content-type": "application/json" } }),
      "is not UTF-8",
    ],
    ["JSON that nests without end", json(JSON.parse("[".repeat(5_000) + "]".repeat(5_000))), "is not JSON"],
  ])("%s is an error", async (_, reply, message) => {
    expect(await callOn(() => reply)).toMatchObject(invalid(message));
  });

  it.each([
    ["204", new Response(null, { status: 204 })],
    ["200 without a type", new Response(new Uint8Array(0))],
    ["202 under the type of JSON", new Response("", { status: 202, headers: { "content-type": "application/json" } })],
    ["200 under another type", new Response("", { headers: { "content-type": "text/html" } })],
  ])("that has no body is null: %s", async (_, reply) => {
    expect(await callOn(() => reply)).toMatchObject({ ok: true, data: null });
  });

  it("a failure without a body is an error", async () => {
    const reply = new Response(null, { status: 404 });
    expect(await callOn(() => reply)).toMatchObject({ error: { code: "TOOL_ERROR", details: { name: "HTTP_404" } } });
  });

  it("a picture that is a page is an error", async () => {
    const more = { output: { kind: "binary", mediaType: "image/png" } };
    const reply = new Response("<html>", { headers: { "content-type": "text/html" } });
    expect(await callOn(() => reply, {}, more)).toMatchObject(invalid("expected image/png"));
  });

  it("a reply without the value that is the output is an error", async () => {
    const http = { responses: { "2XX": { output: { $from: "body#/data/0" } } } };
    expect(await callOn(() => json({ data: [] }), http)).toMatchObject(invalid("lacks the value"));
  });

  it("a value that the schema of the output refuses is an error", async () => {
    const more = { output: { kind: "json", schema: { type: "array" } } };
    expect(await callOn(() => json({}), {}, more)).toMatchObject({ error: { code: "INVALID_OUTPUT" } });
  });

  it("a message that is no text is not shown", async () => {
    const http = { responses: { "4XX": { error: { code: "NO", message: { $from: "body#/message" } } } } };
    for (const body of [{ message: { toString: "x" } }, { message: 7 }, {}, []])
      expect(await callOn(() => json(body, { status: 400 }), http)).toMatchObject({
        error: { message: "example.com answered with 400.", details: { name: "NO" } },
      });
  });

  it("a key of prototypes in a reply is refused, and none is read", async () => {
    const reply = new Response('{"__proto__":{"a":1}}', { headers: { "content-type": "application/json" } });
    expect(await callOn(() => reply)).toMatchObject(invalid("proto-key"));
    const http = { responses: { "2XX": { output: { p: { $from: "body#/constructor" } } } } };
    expect(await callOn(() => json({}), http)).toMatchObject({ data: {} });
  });
});

describe("a connection that lies about its length", () => {
  const sockets = new Set<Socket>();
  const servers: ReturnType<typeof createServer>[] = [];
  afterEach(() => {
    for (const socket of sockets) socket.destroy();
    for (const server of servers.splice(0)) server.close();
  });

  async function callRaw(text: string): Promise<CallResult> {
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on("error", () => {}).once("data", () => socket.end(text));
    }).listen(0, "127.0.0.1");
    servers.push(server);
    await once(server, "listening");
    const tool = requestTool(
      { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/{id}` },
      { idempotent: false },
    );
    const host = httpHost({ brokers: [netBroker()] });
    const kernel = await createKernel({ host, policy: grantingAll(tool) });
    kernel.register(tool);
    const result = await kernel.call("subject", { id: "a" });
    await kernel.close();
    return result;
  }

  const head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";

  it.each([
    ["more than it sends", `${head}content-length: 100\r\n\r\n{"a":1}`],
    ["two lengths", `${head}content-length: 7\r\ncontent-length: 9\r\n\r\n{"a":1}`],
    ["a chunk without an end", `${head}transfer-encoding: chunked\r\n\r\nff\r\n{"a":1}`],
    ["no HTTP at all", "SSH-2.0-OpenSSH_9.9\r\n"],
    ["compression that is none", `${head}content-encoding: gzip\r\ncontent-length: 7\r\n\r\n{"a":1}`],
    ["a header with a NUL", `${head}x-a: a\0b\r\ncontent-length: 2\r\n\r\n{}`],
  ])("ends as an error: %s", async (_, text) => {
    expect(await callRaw(text)).toMatchObject({ ok: false, error: { code: "TOOL_ERROR" } });
  });

  it("is read as far as its length", async () => {
    expect(await callRaw(`${head}content-length: 7\r\n\r\n{"a":1}{"b":2}`)).toMatchObject({ data: { a: 1 } });
  });
});

describe("a redirect", () => {
  const sent: string[] = [];
  afterEach(() => void sent.splice(0));
  const redirecting =
    (to: string, status = 302): Send =>
    (request) => {
      sent.push(`${request.method} ${request.url} ${request.headers.get("authorization") ?? ""}`.trim());
      if (sent.length > 1) return json({ arrived: true });
      return new Response(null, { status, headers: { location: to } });
    };

  it.each([
    "https://example.org/",
    "http://example.com/b",
    "https://example.com:8443/",
    "//127.0.0.1/",
    "https://a.example.com/",
  ])("to %s needs the grant, as every request does", async (to) => {
    expect(await callOn(redirecting(to))).toMatchObject({ error: { code: "CAPABILITY_DENIED" } });
    expect(sent).toEqual(["GET https://example.com/a"]);
  });

  it("to a host that the tool declares and the policy grants is followed without its secrets", async () => {
    const hosts = ["example.com", "files.example.org"];
    const capabilities = [
      { kind: "net.read", hosts },
      { kind: "secret.use", names: ["token"], hosts: ["example.com"] },
    ] satisfies Capability[];
    const tool = requestTool({ url, headers: { authorization: "Bearer {secret.token}" } }, { capabilities });
    const secrets = secretKeeper({ get: () => "0123456789abcdef" });
    const kernel = await openHttpKernel([tool], redirecting("https://files.example.org/b"), { secrets });
    expect(await kernel.call("subject", { id: "a" })).toMatchObject({ data: { arrived: true } });
    expect(sent).toEqual(["GET https://example.com/a Bearer 0123456789abcdef", "GET https://files.example.org/b"]);
    await kernel.close();
  });

  it("within the host is followed", async () => {
    expect(await callOn(redirecting("/b"))).toMatchObject({ data: { arrived: true } });
  });
});

describe("a failure that passes", () => {
  const failing = (statuses: readonly number[]): { send: Send; count: () => number } => {
    let count = 0;
    const send = (): Response => {
      const status = statuses[count++] ?? 200;
      return status === 200 ? json({ count }) : new Response("busy", { status });
    };
    return { send, count: () => count };
  };

  it("lets an idempotent request run again", async () => {
    const { send, count } = failing([503, 429]);
    expect(await callOn(send)).toMatchObject({ ok: true, data: { count: 3 }, meta: { attempts: 3 } });
    expect(count()).toBe(3);
  });

  it("does not let a POST run again", async () => {
    const { send, count } = failing([503]);
    const result = await callOn(send, { method: "POST", body: { json: {} } });
    expect(result).toMatchObject({ error: { details: { name: "HTTP_503" }, retryable: false } });
    expect(count()).toBe(1);
  });

  it("lets a POST run again whose author says that it is idempotent", async () => {
    const { send } = failing([503]);
    expect(await callOn(send, { method: "POST" }, { idempotent: true })).toMatchObject({ ok: true });
  });

  it.each([404, 500, 501])("is not the status %i", async (status) => {
    const { send, count } = failing([status]);
    expect(await callOn(send)).toMatchObject({ error: { retryable: false } });
    expect(count()).toBe(1);
  });

  it("is one that the template names", async () => {
    const { send } = failing([500]);
    const http = { responses: { "500": { error: { code: "WARMING_UP", retryable: true } } } };
    expect(await callOn(send, http)).toMatchObject({ ok: true, meta: { attempts: 2 } });
  });
});

it("a secret is in no result, no event and no message, whatever a server echoes", async () => {
  const secret = "0123456789abcdef";
  const tool = requestTool({
    method: "POST",
    url: "https://example.com/{id}?key={secret.token}",
    headers: { authorization: "Bearer {secret.token}" },
    body: { json: { key: { $from: "secret#/token" } } },
    responses: { "4XX": { error: { code: "NO", message: { $from: "body#/message" } } } },
  });
  const seen: string[] = [];
  const send = async (request: Request): Promise<Response> => {
    const echo = `${request.url} ${request.headers.get("authorization")} ${await request.text()}`;
    seen.push(echo);
    return json({ message: echo }, { status: seen.length === 1 ? 200 : 400, headers: { "x-echo": echo } });
  };
  const kernel = await openHttpKernel([tool], send, { secrets: secretKeeper({ get: () => secret }) });
  const shown = [
    await kernel.call("subject", { id: "a" }),
    await kernel.call("subject", { id: "a" }),
    await kernel.audit.read(),
  ];
  expect(seen).toHaveLength(2);
  for (const echo of seen) expect(echo.split(secret)).toHaveLength(4);
  expect(JSON.stringify(shown)).not.toContain(secret);
  expect(JSON.stringify(shown[0])).toContain("keyhole-secret");
  await kernel.close();
});
