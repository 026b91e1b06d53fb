import { oauthTokens, type OauthOptions } from "@keyhole/mcp";
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from "jose";
import { describe, expect, it, vi } from "vitest";
import { FakeClock } from "../support/fake-clock.ts";
import { closeAfterEach, fetchFrom, handlerOf, kernelWith, standardTools } from "./support.ts";

closeAfterEach();

const issuer = "https://login.example.com";
const resource = "http://127.0.0.1/mcp";
const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
const other = await generateKeyPair("ES256", { extractable: true });
const keys = { keys: [{ ...(await exportJWK(publicKey)), kid: "one", alg: "ES256" }] };

const clock = new FakeClock();
const seconds = (): number => Math.floor(clock.now() / 1_000);

interface Made {
  readonly claims?: JWTPayload;
  readonly without?: keyof JWTPayload;
  readonly key?: CryptoKey;
  readonly kid?: string;
}

function tokenOf({ claims = {}, without, key = privateKey, kid = "one" }: Made = {}): Promise<string> {
  const all = { iss: issuer, aud: resource, sub: "desk", exp: seconds() + 600, iat: seconds(), ...claims };
  const payload = Object.fromEntries(Object.entries(all).filter(([name]) => name !== without));
  return new SignJWT(payload).setProtectedHeader({ alg: "ES256", kid, typ: "at+jwt" }).sign(key);
}

/** Asks for the list of tools of 2026-07-28. */
async function asked(token: string | undefined, options: Partial<OauthOptions> = {}) {
  const kernel = await kernelWith(standardTools({ deeds: [] }));
  const oauth = oauthTokens({ issuer, resource, keys, clock, ...options });
  const send = fetchFrom(handlerOf(kernel, oauth));
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1.0.0" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const response = await send(resource, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/list",
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta } }),
  });
  return { response, send, status: response.status, challenge: response.headers.get("www-authenticate") ?? "" };
}

const metadata = "http://127.0.0.1/.well-known/oauth-protected-resource/mcp";

describe("access tokens", () => {
  it("of the issuer, for this resource, in their time, are let in", async () => {
    expect((await asked(await tokenOf())).status).toBe(200);
    expect((await asked(await tokenOf({ claims: { aud: ["https://a.example", resource] } }))).status).toBe(200);
  });

  it.each<[string, () => Promise<string> | string | undefined]>([
    ["none", () => undefined],
    ["one that is no JWT", () => "abc"],
    ["one of another issuer", () => tokenOf({ claims: { iss: "https://evil.example" } })],
    ["one for another resource", () => tokenOf({ claims: { aud: "https://other.example/mcp" } })],
    ["one without an audience", () => tokenOf({ without: "aud" })],
    ["one without an end", () => tokenOf({ without: "exp" })],
    ["one without a subject", () => tokenOf({ without: "sub" })],
    ["one with an empty subject", () => tokenOf({ claims: { sub: "" } })],
    ["one that ended 31 seconds ago", () => tokenOf({ claims: { exp: seconds() - 31 } })],
    ["one that begins in 31 seconds", () => tokenOf({ claims: { nbf: seconds() + 31 } })],
    ["one of another key under the same id", () => tokenOf({ key: other.privateKey })],
    ["one of a key that is not in the set", () => tokenOf({ key: other.privateKey, kid: "two" })],
    [
      "one without a signature",
      () => new UnsecuredJWT({ sub: "desk" }).setIssuer(issuer).setAudience(resource).encode(),
    ],
    [
      "one signed with the public key as a secret",
      async () =>
        new SignJWT({ sub: "desk", exp: seconds() + 600 })
          .setProtectedHeader({ alg: "HS256", kid: "one" })
          .setIssuer(issuer)
          .setAudience(resource)
          .sign(new TextEncoder().encode(JSON.stringify(keys.keys[0]))),
    ],
    ["one of 17,000 characters", () => tokenOf({ claims: { more: "x".repeat(17_000) } })],
  ])("refuses %s with 401, and says where tokens come from", async (_, make) => {
    const { status, challenge } = await asked(await make());
    expect(status).toBe(401);
    expect(challenge).toContain(`resource_metadata="${metadata}"`);
  });

  it("end 30 seconds late at most", async () => {
    expect((await asked(await tokenOf({ claims: { exp: seconds() - 29 } }))).status).toBe(200);
    expect((await asked(await tokenOf({ claims: { exp: seconds() - 30 } }))).status).toBe(401);
  });

  it("refuses a token that was altered at any place", async () => {
    const token = await tokenOf();
    for (let at = 0; at < token.length; at += 7) {
      const altered = `${token.slice(0, at)}${token[at] === "A" ? "B" : "A"}${token.slice(at + 1)}`;
      expect((await asked(altered)).status, String(at)).toBe(401);
    }
  });

  it("need the scopes that are required, and name them where one is missing", async () => {
    const requiredScopes = ["tools:read", "tools:call"];
    const { status, challenge } = await asked(await tokenOf({ claims: { scope: "tools:read" } }), { requiredScopes });
    expect([status, challenge]).toEqual([403, expect.stringContaining('scope="tools:read tools:call"')]);
    for (const claims of [{ scope: "tools:call tools:read" }, { scp: ["tools:read", "tools:call"] }])
      expect((await asked(await tokenOf({ claims }), { requiredScopes })).status).toBe(200);
  });

  it("grant what their scopes grant, and nothing for a scope that nobody mapped", async () => {
    const reads = { kind: "net.read", hosts: ["example.com"] } as const;
    const oauth = oauthTokens({ issuer, resource, keys, clock, scopes: { read: [reads] } });
    const grantsOf = async (scope: string) => {
      const request = new Request(resource, {
        headers: { authorization: `Bearer ${await tokenOf({ claims: { scope } })}` },
      });
      return oauth.authenticate(request);
    };
    expect(await grantsOf("read openid")).toEqual({ caller: `${issuer}#desk`, grants: [reads] });
    expect(await grantsOf("admin constructor __proto__")).toEqual({ caller: `${issuer}#desk`, grants: [] });
    expect(oauth.resourceMetadata.scopes_supported).toEqual(["read"]);
  });
});

describe("a caller that is narrowed twice", () => {
  const wide = { kind: "net.read", hosts: ["example.com"] } as const;
  const narrow = { ...wide, paths: ["/public"] };
  const callerWith = async (scopes: object | undefined, grants: readonly object[] | undefined) => {
    const callerOf = () => ({ caller: "guest", ...(grants && { grants }) });
    const options = { issuer, resource, keys, clock, callerOf, ...(scopes && { scopes }) } as never;
    const authorization = `Bearer ${await tokenOf({ claims: { scope: "read" } })}`;
    return oauthTokens(options).authenticate(new Request(resource, { headers: { authorization } }));
  };

  it("is not served: neither narrowing replaces the other", async () => {
    for (const grants of [[narrow], [wide], []]) {
      const answer = await callerWith({ read: [wide] }, grants);
      expect(answer).toBeInstanceOf(Response);
      expect(answer).toMatchObject({ status: 500 });
    }
  });

  it("is served as narrowed where one narrows", async () => {
    expect(await callerWith(undefined, [narrow])).toEqual({ caller: "guest", grants: [narrow] });
    expect(await callerWith({ read: [wide] }, undefined)).toEqual({ caller: "guest", grants: [wide] });
  });
});

describe("a key set at an address", () => {
  const setOf = async (key: CryptoKey, kid: string) => ({ keys: [{ ...(await exportJWK(key)), kid, alg: "ES256" }] });
  const jwks = `${issuer}/jwks`;

  it("is read again for a key that it lacks; a withdrawn key and a set that fails let nobody in", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: 0 });
    let reads = 0;
    const fetch = async (): Promise<Response> => {
      if (reads++ > 1) return new Response("", { status: 500 });
      return Response.json(reads === 1 ? await setOf(publicKey, "one") : await setOf(other.publicKey, "two"));
    };
    const oauth = oauthTokens({ issuer, resource, keys: jwks, clock, fetch });
    const isIn = async (made: Made): Promise<boolean> => {
      const headers = { authorization: `Bearer ${await tokenOf(made)}` };
      return !((await oauth.authenticate(new Request(resource, { headers }))) instanceof Response);
    };
    const two = { key: other.privateKey, kid: "two" };
    try {
      expect([await isIn({}), await isIn({}), await isIn(two), reads]).toEqual([true, true, false, 1]);
      vi.setSystemTime(30_000);
      expect([await isIn(two), await isIn({}), reads]).toEqual([true, false, 2]);
      vi.setSystemTime(630_000);
      expect([await isIn(two), reads]).toEqual([false, 3]);
    } finally {
      vi.useRealTimers();
    }
  });

  it.each<[string, () => Promise<Response>]>([
    ["cannot be reached", () => Promise.reject(new TypeError("fetch failed"))],
    ["answers with 500", async () => new Response("", { status: 500 })],
    ["is no key set", async () => Response.json({ keys: "none" })],
  ])("that %s lets nobody in, and does not blame the token", async (_, fetch) => {
    const { status } = await asked(await tokenOf(), { keys: jwks, fetch });
    expect(status).toBe(503);
  });

  it("needs https", () => {
    for (const wrong of ["http://login.example.com/jwks", "", "jwks"])
      expect(() => oauthTokens({ issuer, resource, keys: wrong })).toThrow("no https URL");
  });
});

describe("the metadata of the resource", () => {
  it("is served without a token, at its address and no other", async () => {
    const { send } = await asked(undefined);
    const response = await send(metadata);
    expect(await response.json()).toEqual({
      resource,
      authorization_servers: [issuer],
      bearer_methods_supported: ["header"],
    });
    expect((await send(`${metadata}/x`)).status).toBe(404);
    expect((await send(metadata, { method: "POST" })).status).toBe(404);
  });
});
