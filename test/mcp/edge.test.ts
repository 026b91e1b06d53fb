import { request as rawRequest } from "node:http";
import type { PolicyDocument } from "@keyhole/kernel";
import { echo, kvPut } from "@keyhole/worker-host/tools";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePorts } from "../../scripts/serve/ports.mjs";
import { startEdgeWorker } from "../support/edge-worker.ts";
import { afterwards, closeAfterEach } from "./support.ts";

closeAfterEach();

const issuer = "https://login.example.com";
const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
const keys = { keys: [{ ...(await exportJWK(publicKey)), kid: "one", alg: "ES256" }] };

const policy: PolicyDocument = {
  version: "1",
  posture: "standard",
  grants: [{ tool: "kv_put", capability: { kind: "kv.write", keys: ["workspace/"] } }],
};
const calling = ["tools:read", "tools:call"];
const tokens = {
  "agent-token": { subject: "agent", scopes: calling },
  "both-token": { subject: "both", scopes: [...calling, "approvals:write"] },
  "reader-token": { subject: "reader", scopes: ["tools:read"] },
  "ada-token": { subject: "ada", scopes: ["approvals:write"] },
  "other-token": { subject: "eve", scopes: ["approvals:write"], tenant: "other" },
};

/** The service as a user has it, with two tools. */
const program = (resource: string): string => `
import { kernelObject } from "@keyhole/edge";
import { edgeMcp, mcpGateway } from "@keyhole/edge/mcp";
import { oauthTokens } from "@keyhole/mcp";
const tools = ${JSON.stringify([echo, kvPut])};
export class KernelObject extends kernelObject({ tools, policy: ${JSON.stringify(policy)}, mcp: edgeMcp() }) {}
export default mcpGateway({ oauth: oauthTokens({
  issuer: ${JSON.stringify(issuer)}, resource: ${JSON.stringify(resource)}, keys: ${JSON.stringify(keys)},
  scopes: { echo: [] },
}) });
`;

let url = "";
let stop: () => Promise<void> = async () => {};

beforeAll(async () => {
  const [port = 0] = await freePorts(1);
  url = `http://127.0.0.1:${port}`;
  ({ stop } = await startEdgeWorker(program(`${url}/mcp`), tokens, {
    port,
    variables: { KEYHOLE_URL: url, KEYHOLE_ORIGINS: "https://app.example.com" },
  }));
}, 60_000);
afterAll(() => stop());

async function client(token: string, era: "auto" | "legacy", onUrl?: (url: string) => void): Promise<Client> {
  const made = new Client(
    { name: "test", version: "1.0.0" },
    {
      versionNegotiation: { mode: era },
      ...(onUrl && { capabilities: { elicitation: { url: {} } } }),
    },
  );
  if (onUrl)
    made.setRequestHandler("elicitation/create", ({ params }) => {
      if ("url" in params) onUrl(params.url);
      return { action: "accept" };
    });
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });
  await made.connect(transport);
  afterwards(() => made.close());
  return made;
}

/** What a browser's form sends. */
async function answer(page: string, key: string, said = "allow", origin = url): Promise<number> {
  const body = new URLSearchParams({ key, answer: said }).toString();
  const headers = { "content-type": "application/x-www-form-urlencoded", origin };
  const response = await fetch(page, { method: "POST", headers, body });
  await response.arrayBuffer();
  return response.status;
}

/** A POST with headers that \`fetch\` does not send. */
function status(headers: Readonly<Record<string, string>>): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const sent = rawRequest(`${url}/mcp`, {
    method: "POST",
    headers: { authorization: "Bearer agent-token", "content-type": "application/json", ...headers },
  });
  sent.on("response", (response) => {
    response.resume();
    resolve(response.statusCode ?? 0);
  });
  sent.on("error", reject);
  sent.end("{}");
  return promise;
}

describe("/mcp of the edge", () => {
  it.each(["auto", "legacy"] as const)(
    "lists and calls tools in isolates, with a client that negotiates %s",
    async (era) => {
      const own = await client("agent-token", era);
      expect((await own.listTools()).tools.map(({ name }) => name)).toEqual(["echo", "kv_put"]);
      const result = await own.callTool({ name: "echo", arguments: { message: "hello" } });
      expect(result).toMatchObject({ structuredContent: { message: "hello" }, _meta: { "keyhole/decision": "allow" } });
      expect(own.getNegotiatedProtocolVersion()).toBe(era === "auto" ? "2026-07-28" : "2025-11-25");
    },
  );

  it.each(["auto", "legacy"] as const)(
    "asks a person on a page, which takes no token that can call tools (%s)",
    async (era) => {
      const page = Promise.withResolvers<string>();
      const own = await client("agent-token", era, page.resolve);
      const called = own.callTool({ name: "kv_put", arguments: { key: "workspace/a", value: era } });
      const address = await page.promise;
      expect(address).toMatch(`${url}/approvals/default/`);
      const shown = await fetch(address);
      expect(shown.headers.get("content-security-policy")).toContain("form-action 'self'");
      expect(await shown.text()).toContain("workspace/a");
      for (const key of ["agent-token", "both-token", "reader-token", "other-token", "no-token", ""])
        expect(await answer(address, key), key).toBe(403);
      expect(await answer(address, "ada-token", "allow", "https://app.example.com")).toBe(403);
      expect(await answer(address.replace("/default/", "/other/"), "other-token")).toBe(404);
      expect(await answer(address, "ada-token")).toBe(200);
      expect(await called).toMatchObject({ structuredContent: { kept: true } });
      expect(await answer(address, "ada-token")).toBe(404);
    },
  );

  it("lets the HTTP API answer the same question once, and not with a token that can call tools", async () => {
    const page = Promise.withResolvers<string>();
    const own = await client("agent-token", "auto", page.resolve);
    const called = own.callTool({ name: "kv_put", arguments: { key: "workspace/b", value: "no" } });
    const address = await page.promise;
    const denied = async (token: string): Promise<number> => {
      const response = await fetch(`${url}/v1/approvals/${address.split("/").at(-1)}`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ answer: "deny" }),
      });
      return response.status;
    };
    // It can approve, and it can call: the agent may have it.
    expect(await denied("both-token")).toBe(403);
    expect(await denied("ada-token")).toBe(204);
    expect(await called).toMatchObject({ isError: true, _meta: { "keyhole/error": { code: "APPROVAL_DENIED" } } });
    expect(await answer(address, "ada-token")).toBe(404);
  });

  it("lets in tokens of an authorization server, with the grants of their scopes", async () => {
    const tokenOf = (audience: string, claims: object): Promise<string> =>
      new SignJWT({ sub: "jo", ...claims })
        .setProtectedHeader({ alg: "ES256", kid: "one" })
        .setIssuer(issuer)
        .setAudience(audience)
        .setExpirationTime("10m")
        .sign(privateKey);
    const own = await client(await tokenOf(`${url}/mcp`, { scope: "echo" }), "auto");
    expect(await own.callTool({ name: "echo", arguments: { message: "jo" } })).toMatchObject({
      structuredContent: { message: "jo" },
    });
    expect((await own.listTools()).tools.map(({ name }) => name)).toEqual(["echo"]);
    await expect(own.callTool({ name: "kv_put", arguments: { key: "workspace/c", value: "x" } })).rejects.toThrow(
      "no tool",
    );
    const authorization = `Bearer ${await tokenOf("https://other.example/mcp", { scope: "echo" })}`;
    expect(await status({ authorization })).toBe(401);
    const refused = await fetch(`${url}/mcp`, { method: "POST" });
    expect(refused.headers.get("www-authenticate")).toContain("/.well-known/oauth-protected-resource/mcp");
    const metadata = await fetch(`${url}/.well-known/oauth-protected-resource/mcp`);
    expect(await metadata.json()).toMatchObject({ authorization_servers: [issuer] });
    const elsewhere = { authorization: `Bearer ${await tokenOf(`${url}/mcp`, { scope: "echo" })}` };
    expect((await fetch(`${url}/v1/tools`, { headers: elsewhere })).status).toBe(401);
  });

  it.each([
    ["a token without tools:call", { authorization: "Bearer reader-token" }, 403],
    ["no token", { authorization: "" }, 401],
    ["another Host", { host: "evil.example" }, 403],
    ["a page of another origin", { origin: "https://evil.example" }, 403],
    ["an identity of its own", { authorization: "Bearer reader-token", "keyhole-identity": identity("ada") }, 403],
    ["another type", { "content-type": "text/plain" }, 415],
  ])("refuses a request with %s", async (_, headers, code) => {
    expect(await status(headers)).toBe(code);
  });

  it("believes no grants that a client sends", async () => {
    const sent = { "keyhole-grants": "not json" };
    expect(await status(sent)).toBe(await status({}));
    expect((await fetch(`${url}/approvals/nobody/1`)).status).toBe(404);
  });
});

function identity(subject: string): string {
  return encodeURIComponent(JSON.stringify({ subject, scopes: calling, tenant: "default" }));
}
