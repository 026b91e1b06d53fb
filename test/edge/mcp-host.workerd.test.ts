import { runInDurableObject } from "cloudflare:test";
import { kernelObject } from "@keyhole/edge";
import { edgeMcp } from "@keyhole/edge/mcp";
import { echo } from "@keyhole/worker-host/tools";
import { expect, it } from "vitest";
import { identityHeader } from "../../packages/edge/src/app/gateway.ts";
import { bindings } from "./bindings.ts";

const Configured = kernelObject({ tools: [echo], policy: { version: "1", posture: "standard" }, mcp: edgeMcp() });

const scopes = ["tools:read", "tools:call"];
const identity = encodeURIComponent(JSON.stringify({ subject: "a", scopes, tenant: "mcp-host" }));

const capabilities = {};
const clientInfo = { name: "c", version: "1" };
const params = { protocolVersion: "2025-06-18", capabilities, clientInfo };
const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });

it.each<[string, string, Record<string, string>, Record<string, string>, number]>([
  ["under its own name after a deploy", "keyhole.acme.workers.dev", {}, {}, 200],
  ["on this machine", "localhost:8701", {}, {}, 200],
  ["to no page of another origin", "localhost:8701", {}, { origin: "https://evil.example" }, 403],
  ["to no page that pretends to be this machine", "evil.example", {}, { origin: "http://evil.example" }, 403],
  ["under the name of KEYHOLE_URL", "tools.example", { KEYHOLE_URL: "https://tools.example" }, {}, 200],
  ["under no other name than that", "other.example", { KEYHOLE_URL: "https://tools.example" }, {}, 403],
])("MCP is served %s", async (_, host, settings, headers, status) => {
  await runInDurableObject(bindings.KERNEL.getByName("mcp-host"), async (__, context) => {
    const object = new Configured(context, { ...bindings, KEYHOLE_TOKENS: "{}", ...settings });
    const accept = "application/json, text/event-stream";
    const given = { [identityHeader]: identity, "content-type": "application/json", accept, host, ...headers };
    const response = await object.fetch(new Request(`https://${host}/mcp`, { method: "POST", headers: given, body }));
    await response.body?.cancel();
    expect(response.status).toBe(status);
  });
});
