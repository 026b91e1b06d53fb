import type { Kernel, PolicyDocument } from "@keyhole/kernel";
import { createKernel } from "@keyhole/kernel";
import { mcpHttp, type McpSignInOptions, mcpSource, oauthTokens, type SignInRecord } from "@keyhole/mcp";
import { describe, expect, it } from "vitest";
import { Issuer, issuer, keys, type Misdeeds, redirectUrl, resource } from "./issuer.ts";
import { afterwards, closeAfterEach, eras, fetchFrom, handlerOf, kernelWith, standardTools } from "./support.ts";

closeAfterEach();

interface Sent {
  readonly origin: string;
  readonly token: string | null;
  /** What it would take of a page. */
  readonly page: Pick<RequestInit, "credentials" | "referrerPolicy" | "cache">;
}

/** A server that asks for tokens of the issuer, and a kernel that has its tools from there. */
async function world(misdeeds: Misdeeds = {}, named = issuer) {
  const person = new Issuer(misdeeds);
  const far = await kernelWith(standardTools({ deeds: [] }));
  const oauth = oauthTokens({ issuer, resource, keys });
  const resourceMetadata = { ...oauth.resourceMetadata, authorization_servers: [named] };
  const serve = fetchFrom(handlerOf(far, { ...oauth, resourceMetadata }));
  const sent: Sent[] = [];
  /** Whether the server has forgotten the token of the next request. */
  const next = { isForgotten: false };
  const fetch = async (input: string | URL, init?: RequestInit): Promise<Response> => {
    const url = new URL(input);
    const { credentials, referrerPolicy, cache } = new Request(url, { ...init, body: null });
    const token = new Headers(init?.headers).get("authorization");
    sent.push({ origin: url.origin, token, page: { credentials, referrerPolicy, cache } });
    const { isForgotten } = next;
    next.isForgotten &&= url.origin !== new URL(resource).origin;
    const given = new Headers(init?.headers);
    if (isForgotten && !next.isForgotten) given.delete("authorization");
    if (url.origin === new URL(resource).origin) return serve(input, { ...init, headers: given });
    if ([issuer, "https://tokens.example.com"].includes(url.origin)) return person.fetch(url, init);
    return new Response(null, { status: 404 });
  };
  const server = (options: Partial<McpSignInOptions> = {}) =>
    mcpHttp({ url: resource, fetch, signIn: { issuers: [issuer], redirectUrl, visit: person.visit, ...options } });
  const { capabilities } = server();
  const grants = capabilities.map((capability) => ({ tool: "*", capability }));
  const policy = { version: "1", posture: "permissive", grants } as unknown as PolicyDocument;
  const kernel: Kernel = await createKernel({ policy });
  afterwards(() => kernel.close());
  return { kernel, person, sent, next, server };
}

describe("a source signs in", () => {
  it.each(eras)("with PKCE and the resource, and calls with the token, in %s", async (era) => {
    const { kernel, person, sent, server } = await world();
    const source = await mcpSource(kernel, { name: "far", server: server(), era });
    afterwards(() => source.close());
    expect(await kernel.call("far_echo", { message: "hello" })).toMatchObject({ ok: true });
    expect(person.visits).toBe(1);
    expect(person.asked.map((body) => body.get("resource"))).toEqual([resource]);
    expect(sent.filter(({ token }) => token?.startsWith("Bearer") === true).map(({ origin }) => origin)).not.toContain(
      issuer,
    );
  });

  it("and sends each request without the cookies, the address and the cache of a page", async () => {
    const { kernel, sent, server } = await world();
    const source = await mcpSource(kernel, { name: "far", server: server() });
    afterwards(() => source.close());
    await kernel.call("far_echo", { message: "hello" });
    expect(new Set(sent.map(({ origin }) => origin))).toEqual(new Set([issuer, new URL(resource).origin]));
    for (const { page } of sent)
      expect(page).toEqual({ credentials: "omit", referrerPolicy: "no-referrer", cache: "no-store" });
  });

  it("once for a store, whose secrets no other server gets", async () => {
    const { kernel, person, server } = await world();
    let record: SignInRecord | undefined;
    const store = { load: async () => record, save: async (next: SignInRecord) => void (record = next) };
    for (let round = 0; round < 2; round++)
      await (await mcpSource(kernel, { name: "far", server: server({ store }) })).close();
    expect(person.visits).toBe(1);
    record = { ...record, server: "https://other.example/mcp" };
    await (await mcpSource(kernel, { name: "far", server: server({ store }) })).close();
    expect(person.visits).toBe(2);
  });

  it("at an endpoint of the issuer that a person listed", async () => {
    const endpoint = "https://tokens.example.com";
    const { kernel, person, server } = await world({ metadata: { token_endpoint: `${endpoint}/token` } });
    await (await mcpSource(kernel, { name: "far", server: server({ endpoints: [endpoint] }) })).close();
    expect(person.visits).toBe(1);
  });

  it("in a call, which pays for both of its requests to the server", async () => {
    const { kernel, person, next, server } = await world();
    const source = await mcpSource(kernel, { name: "far", server: server() });
    afterwards(() => source.close());
    await kernel.call("far_echo", { message: "opens the caller's connection" });
    next.isForgotten = true;
    const result = await kernel.call("far_echo", { message: "hello" });
    expect(result).toMatchObject({ ok: true, meta: { networkRequests: 2 } });
    expect(person.visits).toBe(2);
  });

  it("with the client that the issuer knows", async () => {
    const { kernel, person, server } = await world();
    const known = server({ client: { id: "known" } });
    await (await mcpSource(kernel, { name: "far", server: known })).close();
    expect(person.asked.map((body) => body.get("client_id"))).toEqual(["known"]);
  });
});

const without = (name: string) => (back: URL) => {
  back.searchParams.delete(name);
  return back.href;
};
const withOther = (name: string) => (back: URL) => {
  back.searchParams.set(name, "https://evil.example");
  return back.href;
};

describe("a source does not sign in", () => {
  it.each<[string, Misdeeds, string]>([
    ["where the metadata name another issuer", { metadata: { issuer: "https://evil.example" } }, "Issuer mismatch"],
    ["where the issuer does not take PKCE", { metadata: { code_challenge_methods_supported: ["plain"] } }, "S256"],
    ["where the answer is of another issuer", { leads: withOther("iss") }, "Issuer mismatch"],
    ["where the answer names no issuer", { leads: without("iss") }, "Issuer mismatch"],
    ["where the answer has another state", { leads: withOther("state") }, "another sign-in"],
    ["where the answer has no state", { leads: without("state") }, "another sign-in"],
    [
      "where the person is led elsewhere",
      { leads: ({ search }) => `https://evil.example/${search}` },
      "another address",
    ],
    [
      "where the person is led to another page",
      { leads: ({ origin, search }) => `${origin}/x${search}` },
      "another address",
    ],
    ["where the person says no", { leads: ({ href }) => `${href}&error=access_denied` }, "access_denied"],
    ["where the token endpoint redirects", { redirects: "https://evil.example" }, "redirect"],
    [
      "where tokens would travel in the clear",
      { metadata: { token_endpoint: "http://login.example.com/token" } },
      "token",
    ],
    ...["token_endpoint", "registration_endpoint", "authorization_endpoint"].flatMap((name) =>
      ["https://evil.example/x", "https://169.254.169.254/x", "https://localhost/x"].map(
        (address): [string, Misdeeds, string] => [
          `where the ${name} of the issuer is ${address}`,
          { metadata: { [name]: address } },
          "none of the issuers",
        ],
      ),
    ),
    [
      "where the metadata name the token endpoint twice",
      { text: (text) => text.replace("{", '{"token_endpoint":"https://evil.example/token",') },
      "member twice",
    ],
  ])("%s", async (_, misdeeds, message) => {
    const { kernel, person, sent, server } = await world(misdeeds);
    await expect(mcpSource(kernel, { name: "far", server: server() })).rejects.toThrow(message);
    expect(person.visits).toBeLessThan(2);
    const known = [issuer, new URL(resource).origin];
    expect(sent.filter(({ origin }) => !known.includes(origin))).toEqual([]);
    expect(sent.filter(({ token }) => token?.startsWith("Bearer") === true)).toEqual([]);
  });

  it("at an issuer that the server names and nobody listed, which gets no request", async () => {
    const { kernel, person, sent, server } = await world({}, "https://evil.example");
    await expect(mcpSource(kernel, { name: "far", server: server() })).rejects.toThrow("none of the issuers");
    expect(person.visits).toBe(0);
    expect(sent.map(({ origin }) => origin)).not.toContain("https://evil.example");
  });

  it("at another issuer of the origin, which differs by a slash behind a path", async () => {
    const { kernel, person, server } = await world({}, `${issuer}/tenant/`);
    const source = mcpSource(kernel, { name: "far", server: server({ issuers: [`${issuer}/tenant`] }) });
    await expect(source).rejects.toThrow("names the issuer");
    expect(person.asked).toEqual([]);
  });

  it("a second time after the server refused the token of another audience", async () => {
    const { kernel, person, server } = await world({ audience: "https://other.example/mcp" });
    const endpoint = server();
    await expect(mcpSource(kernel, { name: "far", server: endpoint })).rejects.toThrow("another audience");
    await expect(mcpSource(kernel, { name: "far", server: endpoint })).rejects.toThrow("no further sign-in");
    expect(person.visits).toBe(1);
  });

  it("at a server that would get the token in the clear", () => {
    const signIn = { issuers: [issuer], redirectUrl, visit: async (address: string) => address };
    expect(() => mcpHttp({ url: "http://mcp.example.com/mcp", signIn })).toThrow(TypeError);
    expect(() => mcpHttp({ url: "http://127.0.0.1:4567/mcp", signIn })).not.toThrow();
  });

  it.each<[string, Partial<McpSignInOptions>]>([
    ["no issuer", { issuers: [] }],
    ["an issuer without TLS", { issuers: ["http://login.example.com"] }],
    ["an endpoint without TLS", { endpoints: ["http://tokens.example.com"] }],
    ["an issuer that is no URL", { issuers: ["login.example.com"] }],
    ["a known client for two issuers", { issuers: [issuer, "https://b.example"], client: { id: "known" } }],
    ["an address to come back to that is none", { redirectUrl: "callback" }],
  ])("with %s", async (_, options) => {
    const { server } = await world();
    expect(() => server(options)).toThrow(TypeError);
  });
});
