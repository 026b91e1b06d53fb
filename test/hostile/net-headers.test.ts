import fc from "fast-check";
import { netBroker } from "@keyhole/worker-host/brokers/net";
import { describe, expect, it } from "vitest";
import { ordinaryHeaders } from "../../packages/worker-host/src/brokers/net/headers.ts";
import { openSession } from "../brokers/session.ts";
import { granting, openKernel, toolOf } from "../support/kernel.ts";

const broker = netBroker();
const takes = async (name: string): Promise<boolean> => {
  const { ok } = await broker.needs({
    kind: "net.read",
    operation: "fetch",
    arguments: { url: "https://example.com/", headers: [[name, "a"]] },
  });
  return ok;
};

/** What proxies, frameworks and stores take another host, path, method or caller from. */
const misleading = [
  "x_http_method_override X-HTTP-Method-Override x-method-override x-http-method x-method _method http-method-override",
  "x_original_url X-Original-URL x-original-uri x-original-host x-rewrite-url x-rewrite-uri x-override-url x-http-path-override",
  "transfer_encoding Transfer-Encoding transfer.encoding content_length te trailer connection keep_alive proxy-connection",
  "client-ip x-client-ip true-client-ip x-real-ip x-remote-ip x-remote-addr x-originating-ip x-cluster-client-ip cf-connecting-ip",
  "x-host x-forwarded-host x_forwarded_for x-forwarded x-forward-for x-forwarder-for forwarded forwarded-for x-http-host-override",
  "x-host-override x-forwarded-server x-forwarded-prefix x-forwarded-proto x-forwarded-path fastly-client-ip x-azure-clientip",
  "x-envoy-original-path x-envoy-internal x-envoy-external-address x-middleware-subrequest x-middleware-rewrite x-nextjs-data",
  "x-invoke-path x-matched-path x-now-route-matches x-vercel-forwarded-for x-accel-redirect x-sendfile x-arr-ssl",
  "x-amzn-oidc-data x-amzn-trace-id x-amz-copy-source x-ms-copy-source x-goog-copy-source x-goog-iap-jwt-assertion",
  "x-ms-client-principal destination base-url request-uri x-custom-ip-authorization x-url x-scheme front-end-https x-wap-profile",
  "x-ms-original-url x-waws-unencoded-url x-unencoded-url x-raw-uri x-decoded-path x-effective-host",
  "impersonate-user Impersonate_Group impersonate-extra-scopes sudo x-webauth-user x-authenticated-user x-auth-request-email",
  "x-consumer-username x-anonymous-consumer x-credential-identifier x-authentik-uid x-pomerium-jwt-assertion tailscale-user-login",
  "x-apigateway-api-userinfo x-endpoint-api-userinfo x-vouch-user x-ms-token-aad-id-token x-teleport-login",
  "host via origin referer cookie2 upgrade expect date sec-fetch-site proxy-authorization wl-proxy-client-ip x-proxy-user",
].flatMap((names) => names.split(" "));

it.each(misleading)("the header %s is not for a tool to set", async (name) => expect(await takes(name)).toBe(false));

it("no other sign in the place of its dashes makes a forbidden header a tool's to set", () =>
  fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...misleading),
      fc.array(fc.constantFrom("-", "_", ".", "--", "-_", "~"), { minLength: 6, maxLength: 6 }),
      fc.array(fc.boolean(), { minLength: 40, maxLength: 40 }),
      async (name, signs, upper) => {
        let at = 0;
        const spelt = [...name.replaceAll(/[-_.]/g, () => signs[at++ % signs.length]!)]
          .map((letter, place) => (upper[place] ? letter.toUpperCase() : letter))
          .join("");
        expect(await takes(spelt), spelt).toBe(false);
      },
    ),
    { numRuns: 500 },
  ));

/** Those that a request needs a grant for, by name. */
const named = async (...names: readonly string[]): Promise<unknown> => {
  const asked = await broker.needs({
    kind: "net.read",
    operation: "fetch",
    arguments: { url: "https://example.com/", headers: names.map((name) => [name, "a"]) },
  });
  return asked.ok ? asked.needs.map((need) => ("headers" in need ? need.headers : [])).flat() : asked.error.code;
};

it.each(
  [
    "accept accept-language authorization content-type content-encoding content-language if-none-match if-match",
    "if-modified-since if-unmodified-since if-range range user-agent idempotency-key traceparent tracestate",
    "x-request-id x-correlation-id last-event-id cache-control pragma Accept Content-Type",
  ].flatMap((names) => names.split(" ")),
)("the header %s is every tool's to set", async (name) => expect(await named(name)).toEqual([]));

/** What no list of forbidden headers had: each of them changes what some server does. */
const unheardOf = [
  "x-copy-from x-symlink-target x-object-manifest x-copy-from-account x-delete-at x-account-id",
  "x-api-key cookie prefer depth soapaction accept-profile content-profile x-amz-target x-tenant x-http2-path",
  "x-sudo x-user x-role x-debug x_api_key x-requested-with lock-token overwrite timeout x-csrf-token api-key",
].flatMap((names) => names.split(" "));

it.each(unheardOf)("the header %s needs a grant that names it", async (name) =>
  expect(await named(name)).toEqual([name]),
);

it("a header that nobody has heard of needs a grant that names it, or is no tool's", () =>
  fc.assert(
    fc.asyncProperty(fc.stringMatching(/^[A-Za-z][A-Za-z0-9_.-]{1,30}$/), async (name) => {
      fc.pre(!ordinaryHeaders.has(name.toLowerCase()));
      expect([[name.toLowerCase()], "CAPABILITY_DENIED"]).toContainEqual(await named(name));
    }),
    { numRuns: 500 },
  ));

describe("a grant", () => {
  type Grant = { readonly headers?: readonly string[] };
  const call = async (sent: readonly string[], policy: Grant, manifest: Grant = {}, own?: Grant) => {
    const asked: string[] = [];
    const fetch = async (_: string, init: RequestInit) => {
      asked.push(...(init.headers as [string, string][]).map(([name]) => name));
      return new Response("");
    };
    const capability = { kind: "net.read", hosts: ["example.com"] } as const;
    const { kernel, events } = await openKernel({
      policy: granting({ ...capability, ...policy }),
      brokers: [netBroker({ fetch })],
    });
    const headers = sent.map((name) => [name, "1"]);
    const execute = async (_: never, context: { fetch: (url: string, init: object) => Promise<Response> }) =>
      (await context.fetch("https://example.com/a", { headers })).status;
    const more = { capabilities: [{ ...capability, ...manifest }], effects: ["net.read"], determinism: "external" };
    kernel.registerTrusted(toolOf(execute, more));
    const result = await kernel.call("subject", {}, own ? { grants: [{ ...capability, ...own }] } : {});
    return { result, asked, events: await events() };
  };
  const denied = { ok: false, error: { code: "CAPABILITY_DENIED" } };

  it("that names no headers gives the ordinary ones, and no other", async () => {
    expect((await call(["accept", "authorization"], {})).asked).toEqual(["accept", "authorization"]);
    for (const name of unheardOf) {
      const { result, asked } = await call(["accept", name], {});
      expect(result).toMatchObject(denied);
      expect(asked).toEqual([]);
    }
  });

  it("gives those that it names, as they are named", async () => {
    const { result, asked, events } = await call(["X-Api-Key", "accept"], { headers: ["x-api-key"] });
    expect(result).toMatchObject({ ok: true });
    expect(asked).toEqual(["x-api-key", "accept"]);
    expect(JSON.stringify(events)).toContain("GET example.com:443/a with x-api-key");
    for (const name of ["x_api_key", "x-api-key2", "x-api", "x.api.key"])
      expect((await call([name], { headers: ["x-api-key"] })).result).toMatchObject(denied);
  });

  it("gives no more than the manifest names, and the call", async () => {
    const both = ["x-api-key", "x-tenant"];
    expect((await call(both, { headers: both }, { headers: both })).result).toMatchObject({ ok: true });
    expect((await call(both, { headers: both }, { headers: ["x-api-key"] })).result).toMatchObject({
      ok: false,
      error: { code: "CAPABILITY_DENIED", details: { reason: "undeclared" } },
    });
    expect((await call(both, { headers: both }, {}, { headers: both })).result).toMatchObject({ ok: true });
    expect((await call(both, { headers: both }, {}, {})).result).toMatchObject({
      ok: false,
      error: { code: "CAPABILITY_DENIED", details: { reason: "narrowed" } },
    });
  });

  it("that is suggested names the headers of the request", async () => {
    const { result } = await call(["x-api-key"], {});
    expect(result).toMatchObject({
      ok: false,
      error: { operatorHint: expect.stringContaining('"headers":["x-api-key"]') },
    });
  });

  it.each([
    "Host",
    "X-Api-Key",
    "*",
    "x-*",
    "",
    "a b",
    "a:b",
    "host",
    "content-length",
    "transfer-encoding",
    "connection",
    "x-forwarded-host",
    "x-original-url",
    "x-http-method-override",
    ..."x-httpmethod x-httpmethodoverride x-methodoverride x-request-uri x-request-url x-script-name path-info".split(
      " ",
    ),
    "sec-fetch-site",
    "proxy-authorization",
  ])("does not name %j", async (name) => {
    await expect(call([], { headers: [name] })).rejects.toThrow(/INVALID_POLICY/);
  });
});

describe("a redirect to another origin", () => {
  const kept = "accept accept-language user-agent cache-control".split(" ");
  const lost = [
    ...unheardOf.filter((name) => /^x-|key$/.test(name)),
    "x-rapidapi-key",
    "authorization",
    "range",
    "traceparent",
  ];

  it("keeps the few headers that no caller is known by", async () => {
    const seen: string[][] = [];
    const fetch = async (url: string, init: RequestInit) => {
      seen.push((init.headers as [string, string][]).map(([name]) => name));
      return url.endsWith("/a")
        ? new Response(null, { status: 302, headers: { location: "https://b.example/b" } })
        : new Response("");
    };
    const request = {
      kind: "net.read",
      operation: "fetch",
      arguments: { url: "https://a.example/a", headers: [...kept, ...lost].map((name) => [name, "1"]) },
    } as const;
    const capability = { kind: "net.read", hosts: ["a.example", "b.example"], headers: lost } as const;
    const grants = [capability].map((each) => ({
      ...each,
      headers: lost.filter((name) => !ordinaryHeaders.has(name)),
    }));
    expect(await netBroker({ fetch }).serve(request, openSession({ grants }))).toMatchObject({ ok: true });
    expect(seen).toEqual([[...kept, ...lost], kept]);
  });
});
