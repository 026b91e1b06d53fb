import type { ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import type { JsonObject } from "@keyhole/kernel";
import { netBroker } from "@keyhole/worker-host/brokers/net";
import { describe, expect, it } from "vitest";
import {
  ask,
  broker,
  code,
  listen,
  local,
  origin,
  portOf,
  requests,
  routes,
  text,
  valueOf,
  useServers,
} from "./net-server.ts";
import { openSession } from "./session.ts";

useServers();

describe("a request", () => {
  it("carries method, headers and body, and brings back status, headers and body", async () => {
    routes.set("/echo", (_, response, body) =>
      response.writeHead(201, "Made", { "content-type": "text/plain", "x-answer": "42" }).end(`got ${body}`),
    );
    const { reply, session } = await ask(`${origin}/echo?q=1#fragment`, {
      method: "POST",
      headers: [["X-Ask", "why"]],
      body: "data",
    });
    expect(valueOf(reply)).toMatchObject({
      status: 201,
      statusText: "Made",
      url: `${origin}/echo?q=1`,
      redirected: false,
    });
    expect(valueOf(reply).headers).toContainEqual(["x-answer", "42"]);
    expect(text(reply)).toBe("got data");
    expect(requests).toMatchObject([{ method: "POST", body: "data", headers: { "x-ask": "why" } }]);
    expect(session.used.networkRequests).toBe(1);
  });

  it("keeps the status of a failure as a result", async () => {
    expect(valueOf((await ask(`${origin}/missing`)).reply).status).toBe(404);
  });

  it("reads no body of HEAD and 204", async () => {
    routes.set("/", (_, response) => response.writeHead(200, { "content-length": "1000" }).end());
    routes.set("/nothing", (_, response) => response.writeHead(204).end());
    expect((await ask(`${origin}/`, { method: "HEAD" })).reply).not.toHaveProperty("body");
    expect(valueOf((await ask(`${origin}/nothing`)).reply).status).toBe(204);
  });

  it("upper-cases the method", async () => {
    routes.set("/", (_, response) => response.end());
    await ask(`${origin}/`, { method: "patch", body: "" });
    expect(requests[0]!.method).toBe("PATCH");
  });

  it("ends with the call", async () => {
    const end = new AbortController();
    routes.set("/", () => end.abort());
    expect((await ask(`${origin}/`, { signal: end.signal })).reply).toMatchObject({
      ok: false,
      error: { code: "CANCELLED" },
    });
  });

  it("ends with the call in the middle of a body", async () => {
    const end = new AbortController();
    routes.set("/", (_, response) => {
      response.write("a part");
      setImmediate(() => end.abort());
    });
    expect((await ask(`${origin}/`, { signal: end.signal })).reply).toMatchObject({
      ok: false,
      error: { code: "CANCELLED" },
    });
  });

  it("says why a host cannot be reached", async () => {
    const closed = await listen();
    const url = `http://127.0.0.1:${portOf(closed)}/`;
    closed.close();
    expect((await ask(url)).reply).toMatchObject({
      ok: false,
      error: { code: "UNAVAILABLE", message: expect.stringContaining("ECONNREFUSED") as string },
    });
  });
});

describe("what is refused before anything is sent", () => {
  const needs = (args: JsonObject, body?: Uint8Array) =>
    broker.needs({ kind: "net.read", operation: "fetch", arguments: args, ...(body && { body }) });

  it.each([
    ["no URL", {}],
    ["a number for a URL", { url: 1 }],
    ["a relative URL", { url: "/a" }],
    ["a long URL", { url: `https://example.com/${"a".repeat(8_192)}` }],
    ["a method that is no token", { url: "https://example.com", method: "GET /" }],
    ["a method that tunnels", { url: "https://example.com", method: "connect" }],
    ["headers as an object", { url: "https://example.com", headers: { a: "b" } }],
    ["a header that is no pair", { url: "https://example.com", headers: ["a"] }],
    ["a header name with a line break", { url: "https://example.com", headers: [["a\r\nb", "c"]] }],
    ["a header value with a line break", { url: "https://example.com", headers: [["a", "b\r\nc: d"]] }],
    ["a header value beyond Latin-1", { url: "https://example.com", headers: [["a", "✓"]] }],
    ["too many headers", { url: "https://example.com", headers: Array.from({ length: 65 }, () => ["a", "b"]) }],
    ["too long headers", { url: "https://example.com", headers: [["a", "b".repeat(16_384)]] }],
  ] as const)("%s", (_, args) => expect(needs(args as unknown as JsonObject)).toMatchObject({ ok: false }));

  it.each(["POST", "delete", "QUERY", "OPTIONS"])("%s as a read, and GET as a write", async (method) => {
    const request = { kind: "net.read", operation: "fetch", arguments: { url: "https://example.com", method } };
    const mistaken = { ok: false, error: { code: "INVALID_REQUEST" } };
    expect(await broker.needs(request)).toMatchObject(mistaken);
    expect(await broker.serve(request, openSession())).toMatchObject(mistaken);
    expect(
      await broker.needs({ ...request, kind: "net.write", arguments: { ...request.arguments, method: "GET" } }),
    ).toMatchObject(mistaken);
  });

  it.each([
    "Host",
    "content-length",
    "Transfer-Encoding",
    "Connection",
    "Proxy-Authorization",
    "Sec-Fetch-Site",
    "Origin",
    "Referer",
    "X-Forwarded-For",
    "X-HTTP-Method-Override",
    "Upgrade",
    "TE",
    "CF-Connecting-IP",
    "Forwarded",
    "Expect",
    "Via",
  ])("the header %s", (name) => {
    expect(needs({ url: "https://example.com", headers: [[name, "a"]] })).toMatchObject({
      ok: false,
      error: { code: "CAPABILITY_DENIED", message: expect.stringContaining(name) as string },
    });
  });

  it("a body where the method has none", () => {
    expect(needs({ url: "https://example.com" }, new Uint8Array(1))).toMatchObject({
      ok: false,
      error: { code: "INVALID_REQUEST" },
    });
  });

  it("another operation", () => {
    expect(
      broker.needs({ kind: "net.read", operation: "connect", arguments: { url: "https://example.com" } }),
    ).toMatchObject({ ok: false });
  });

  it("says what is needed in canonical form", () => {
    expect(needs({ url: "HTTPS://EXAMPLE.COM.:443/a/../b?q#f" })).toEqual({
      ok: true,
      needs: [{ kind: "net.read", method: "GET", host: "example.com", port: 443, path: "/b", isPublic: true }],
    });
  });
});

/** Made before a connection is open: making it holds the thread for longer than an idle one lives. */
const bomb = gzipSync(new Uint8Array(64 << 20));

describe("a body", () => {
  it("is counted at the bound and not one byte later", async () => {
    routes.set("/", (_, response) => response.end("x".repeat(1_000)));
    const { session } = await ask(`${origin}/`);
    const needed = session.used.networkBytes;
    expect(code((await ask(`${origin}/`, { networkBytes: needed })).reply)).toBe("ok");
    expect(code((await ask(`${origin}/`, { networkBytes: needed - 1 })).reply)).toBe("BOUNDS_EXCEEDED");
  });

  it("is counted as it is decompressed", async () => {
    let sent = 0;
    routes.set("/", (_, response) => {
      response.writeHead(200, { "content-encoding": "gzip" }).end(bomb);
      sent = bomb.length;
    });
    const { reply, session } = await ask(`${origin}/`, { networkBytes: 1 << 20 });
    expect(code(reply)).toBe("BOUNDS_EXCEEDED");
    expect(sent).toBeLessThan(1 << 20);
    expect(session.used.networkBytes).toBeLessThanOrEqual(1 << 20);
  });

  it("without end is stopped, and its connection closed", async () => {
    const closed = Promise.withResolvers<void>();
    routes.set("/", (_, response) => {
      const chunk = Buffer.alloc(65_536);
      const more = (): void => {
        while (response.write(chunk));
        response.once("drain", more);
      };
      response.once("close", () => closed.resolve());
      more();
    });
    expect(code((await ask(`${origin}/`)).reply)).toBe("BOUNDS_EXCEEDED");
    await closed.promise;
  });

  it.each([
    [
      "shorter than it says",
      (response: ServerResponse) =>
        response.writeHead(200, { "content-length": "100" }).write("short", () => response.destroy()),
    ],
    [
      "not what its encoding says",
      (response: ServerResponse) => response.writeHead(200, { "content-encoding": "gzip" }).end("no gzip"),
    ],
  ] as const)("that is %s is a failure", async (_, answer) => {
    routes.set("/", (_request, response) => answer(response));
    expect(code((await ask(`${origin}/`)).reply)).toBe("UNAVAILABLE");
  });

  it("of a request is counted before it is sent", async () => {
    routes.set("/", (_, response) => response.end());
    expect(code((await ask(`${origin}/`, { method: "POST", body: "x".repeat(101), networkBytes: 100 })).reply)).toBe(
      "BOUNDS_EXCEEDED",
    );
    expect(requests).toHaveLength(0);
  });

  it.each([
    ["address", (bytes: number) => [`${origin}/?${"x".repeat(bytes)}`, {}] as const],
    ["headers", (bytes: number) => [`${origin}/`, { headers: [["x-a", "x".repeat(bytes)]] }] as const],
  ])("is not all that counts: the bytes of its %s do, before it is sent", async (_, requestOf) => {
    routes.set("/", (_request, response) => response.end());
    const [url, more] = requestOf(1_001);
    expect(code((await ask(url, { ...more, networkBytes: 1_000 })).reply)).toBe("BOUNDS_EXCEEDED");
    expect(requests).toHaveLength(0);
    const [shorter, rest] = requestOf(500);
    expect(code((await ask(shorter, { ...rest, networkBytes: 1_000 })).reply)).toBe("ok");
    expect(requests).toHaveLength(1);
  });

  it("may hold any bytes", async () => {
    const all = Buffer.from(Uint8Array.from({ length: 256 }, (_, i) => i));
    routes.set("/", (_, response) => response.end(all));
    const { reply } = await ask(`${origin}/`);
    expect(reply.ok && Buffer.from(reply.body!).equals(all)).toBe(true);
  });
});

it("does not take a status that is none of HTTP's", async () => {
  const strange = netBroker({ fetch: async () => Object.defineProperty(new Response(""), "status", { value: 999 }) });
  const reply = await strange.serve(
    { kind: "net.read", operation: "fetch", arguments: { url: `${origin}/` } },
    openSession({ grants: local() }),
  );
  expect(code(reply)).toBe("UNAVAILABLE");
});
