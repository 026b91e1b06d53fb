import { beforeAll, describe, expect, it } from "vitest";
import { openService, type Service, sha256Hex, tokenOf } from "./service.ts";
import { authenticate, readTokens } from "../../packages/edge/src/app/auth.ts";
import { createGateway } from "@keyhole/edge";

let service: Service;
beforeAll(async () => {
  service = await openService();
});

const json = { "content-type": "application/json" };

const routes = [
  { method: "GET", path: "/v1/tools", scope: "tools:read", ok: 200 },
  { method: "GET", path: "/v1/tools/echo", scope: "tools:read", ok: 200 },
  { method: "POST", path: "/v1/tools/echo/calls", scope: "tools:call", ok: 200, body: { input: { message: "x" } } },
  { method: "POST", path: "/v1/tools/echo/preview", scope: "tools:call", ok: 200, body: { input: { message: "x" } } },
  { method: "POST", path: "/v1/tools/echo/health", scope: "tools:call", ok: 200 },
  { method: "GET", path: "/v1/audit", scope: "audit:read", ok: 200 },
  { method: "GET", path: `/v1/content/blake3:${"0".repeat(64)}`, scope: "content:read", ok: 404 },
  { method: "GET", path: "/v1/approvals", scope: "approvals:write", ok: 200 },
  { method: "POST", path: "/v1/approvals/none", scope: "approvals:write", ok: 404, body: { answer: "deny" } },
  { method: "DELETE", path: "/v1/approvals/none", scope: "approvals:write", ok: 404 },
  { method: "GET", path: "/v1/policy", scope: "policy:read", ok: 200 },
  { method: "GET", path: "/v1/mode", scope: "mode:write", ok: 200 },
  { method: "PUT", path: "/v1/mode", scope: "mode:write", ok: 200, body: { mode: "NORMAL", reason: "a drill" } },
] as const;

const request = (route: (typeof routes)[number]): RequestInit => ({
  method: route.method,
  ...("body" in route && { body: JSON.stringify(route.body), headers: json }),
});

describe.each(routes)("$method $path", (route) => {
  const { path, scope, ok } = route;

  it("is closed without a token", async () => {
    const response = await service.send(path, request(route), null);
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe('Bearer realm="keyhole"');
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect(await response.json()).toMatchObject({
      code: "UNAUTHENTICATED",
      status: 401,
      type: "urn:keyhole:error:UNAUTHENTICATED",
    });
  });

  it(`is closed without the scope ${scope}`, async () => {
    const response = await service.send(path, request(route), "nobody");
    expect(response.status).toBe(403);
    expect(response.headers.get("www-authenticate")).toBe(
      `Bearer realm="keyhole", error="insufficient_scope", scope="${scope}"`,
    );
    expect(await response.json()).toMatchObject({ code: "FORBIDDEN" });
  });

  it("is open with it", async () => {
    expect((await service.send(path, request(route))).status).toBe(ok);
  });
});

describe("a token", () => {
  const sha = "a".repeat(64);
  it.each([
    ["none", null, 401, 'Bearer realm="keyhole"'],
    ["another scheme", "Basic dXNlcjpwYXNz", 401, 'Bearer realm="keyhole"'],
    ["an unknown one", "Bearer nobody-knows-me", 401, 'Bearer realm="keyhole", error="invalid_token"'],
    ["its digest instead", `Bearer ${sha}`, 401, 'Bearer realm="keyhole", error="invalid_token"'],
    ["the scheme alone", "Bearer", 400, 'Bearer realm="keyhole", error="invalid_request"'],
    ["with characters that none has", "Bearer a b", 400, 'Bearer realm="keyhole", error="invalid_request"'],
    ["two of them", "Bearer a, Bearer b", 400, 'Bearer realm="keyhole", error="invalid_request"'],
    ["of 513 characters", `Bearer ${"x".repeat(513)}`, 400, 'Bearer realm="keyhole", error="invalid_request"'],
    ["of 512 characters", `Bearer ${"x".repeat(512)}`, 401, 'Bearer realm="keyhole", error="invalid_token"'],
  ])("%s", async (_, authorization, status, challenge) => {
    const response = await service.send(
      "/v1/tools",
      authorization === null ? {} : { headers: { authorization } },
      null,
    );
    expect(response.status).toBe(status);
    expect(response.headers.get("www-authenticate")).toBe(challenge);
  });

  it("is read whatever the case of the scheme", async () => {
    const response = await service.send("/v1/tools", { headers: { authorization: `bearer ${tokenOf("all")}` } }, null);
    expect(response.status).toBe(200);
  });

  it("in the query counts for nothing", async () => {
    expect((await service.send(`/v1/tools?access_token=${tokenOf("all")}`, {}, null)).status).toBe(401);
  });

  it("names the caller; nothing that a client sends does", async () => {
    const identity = encodeURIComponent(JSON.stringify({ subject: "root", scopes: ["audit:read"], tenant: "default" }));
    const response = await service.send("/v1/audit", { headers: { "keyhole-identity": identity } }, "caller");
    expect(response.status).toBe(403);
    const called = await service.call("forbidden", { input: {} }, { "keyhole-identity": identity }, "caller");
    expect(called.status).toBe(403);
    const audit = (await (await service.send("/v1/audit?limit=1000")).json()) as {
      events: { type: string; payload: { caller?: string; tool?: string } }[];
    };
    const invoked = audit.events.findLast(({ type }) => type === "call.invoked");
    expect(invoked?.payload).toMatchObject({ caller: "caller", tool: "forbidden@1.0.0" });
  });
});

describe("the token table", () => {
  it("knows nobody where nothing is configured", async () => {
    for (const config of [undefined, "", "{}"]) {
      await expect(authenticate("Bearer x", readTokens(config))).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
    }
  });

  it("gives the identity of the token's digest, whose tenant is `default` where none is named", async () => {
    const table = readTokens(JSON.stringify({ [await sha256Hex("t")]: { subject: "s", scopes: ["tools:read"] } }));
    expect(await authenticate("Bearer t", table)).toEqual({ subject: "s", scopes: ["tools:read"], tenant: "default" });
  });

  it("compares the whole digest of a token", async () => {
    const digest = await sha256Hex("t");
    for (let at = 0; at < digest.length; at++) {
      const other = digest.slice(0, at) + (digest[at] === "0" ? "1" : "0") + digest.slice(at + 1);
      const table = readTokens(JSON.stringify({ [other]: { subject: "s", scopes: [] } }));
      await expect(authenticate("Bearer t", table)).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
    }
  });

  it.each([
    ["not JSON", "{"],
    ["no object", "[]"],
    ["a token instead of a digest", JSON.stringify({ secret: { subject: "s", scopes: [] } })],
    ["a digest in capitals", JSON.stringify({ ["A".repeat(64)]: { subject: "s", scopes: [] } })],
    ["an unknown scope", JSON.stringify({ ["a".repeat(64)]: { subject: "s", scopes: ["all"] } })],
    ["an unknown key", JSON.stringify({ ["a".repeat(64)]: { subject: "s", scopes: [], admin: true } })],
    ["no subject", JSON.stringify({ ["a".repeat(64)]: { subject: "", scopes: [] } })],
  ])("is refused: %s", async (_, config) => {
    const gateway = createGateway<object>(() => ({ tokens: config, origins: "" }), {
      forward: async () => new Response("reached"),
    });
    const response = await gateway.fetch(
      new Request("https://edge.example/v1/tools", { headers: { authorization: "Bearer x" } }),
      {},
    );
    expect(response.status).toBe(500);
    const text = await response.text();
    expect(JSON.parse(text)).toMatchObject({ code: "MISCONFIGURED" });
    expect(text).not.toContain("secret");
  });
});

describe("addresses", () => {
  it("lets anybody ask whether it is there", async () => {
    const response = await service.send("/healthz", {}, null);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ status: "ok" });
  });

  it.each(["/", "/v2/tools", "/healthz/x", "/V1/tools"])("has nothing at %s", async (path) => {
    const response = await service.send(path, {}, null);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: "NOT_FOUND" });
  });

  it.each(["/v1", "/v1/", "/v1/tools/", "/v1/tools/echo/calls/x", "/v1/nothing"])(
    "has nothing at %s for who may ask",
    async (path) => {
      expect((await service.send(path)).status).toBe(404);
    },
  );

  it.each([
    ["DELETE", "/v1/tools", "GET, HEAD"],
    ["POST", "/v1/tools", "GET, HEAD"],
    ["GET", "/v1/tools/echo/calls", "POST"],
    ["PUT", "/v1/audit", "GET, HEAD"],
    ["PATCH", "/v1/approvals/x", "POST, DELETE"],
  ])("refuses %s %s", async (method, path, allowed) => {
    const response = await service.send(path, { method });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe(allowed);
    expect(await response.json()).toMatchObject({ code: "METHOD_NOT_ALLOWED" });
  });

  it("answers HEAD like GET, without the body", async () => {
    const response = await service.send("/v1/tools", { method: "HEAD" });
    expect(response.status).toBe(200);
    expect(await response.text()).toBe("");
  });
});

describe("headers", () => {
  const everywhere = ["/healthz", "/v1/tools", "/nothing"];

  it.each(everywhere)("keep a browser from making anything of %s", async (path) => {
    const { headers } = await service.send(path);
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("content-security-policy")).toBe("default-src 'none'; frame-ancestors 'none'");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
  });

  it("let the configured page in, refusals included", async () => {
    for (const [path, token] of [
      ["/v1/tools", "all"],
      ["/v1/tools", null],
      ["/nothing", null],
    ] as const) {
      const { headers } = await service.send(path, { headers: { origin: "https://page.example" } }, token);
      expect(headers.get("access-control-allow-origin")).toBe("https://page.example");
      expect(headers.get("vary")).toContain("Origin");
    }
  });

  it.each(["https://other.example", "https://page.example.evil.example", "http://page.example", "null"])(
    "let no other page in: %s",
    async (origin) => {
      const { headers } = await service.send("/v1/tools", { headers: { origin } });
      expect(headers.get("access-control-allow-origin")).toBeNull();
    },
  );

  it("answer a preflight without a token, and allow no credentials", async () => {
    const response = await service.send(
      "/v1/tools/echo/calls",
      {
        method: "OPTIONS",
        headers: {
          origin: "https://page.example",
          "access-control-request-method": "POST",
          "access-control-request-headers": "authorization",
        },
      },
      null,
    );
    expect(response.status).toBe(204);
    expect(response.headers.get("access-control-allow-headers")).toContain("authorization");
    expect(response.headers.get("access-control-allow-credentials")).toBeNull();
  });

  it("let no page in where none is configured", async () => {
    const closed = await openService({}, "");
    const { headers } = await closed.send("/v1/tools", { headers: { origin: "https://page.example" } });
    expect(headers.get("access-control-allow-origin")).toBeNull();
  });
});

describe("tenants", () => {
  it("are told apart by the token alone", async () => {
    const seen: string[] = [];
    const table = JSON.stringify({
      [await sha256Hex("one")]: { subject: "a", scopes: [], tenant: "one" },
      [await sha256Hex("two")]: { subject: "a", scopes: [], tenant: "two" },
    });
    const gateway = createGateway<object>(() => ({ tokens: table, origins: "" }), {
      forward: async (forwarded, { tenant }) => {
        seen.push(tenant);
        expect(forwarded.headers.get("authorization")).toBeNull();
        return new Response();
      },
    });
    for (const token of ["one", "two"] satisfies string[]) {
      await gateway.fetch(
        new Request("https://edge.example/v1/tools?tenant=one", { headers: { authorization: `Bearer ${token}` } }),
        {},
      );
    }
    expect(seen).toEqual(["one", "two"]);
  });
});
