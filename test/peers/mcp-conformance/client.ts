// Started by the suite for one scenario, with the address of its server: a source over it, whose tools are called.
import { createKernel, type JsonObject } from "@keyhole/kernel";
import { mcpHttp, mcpSource } from "@keyhole/mcp";

interface Given {
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: JsonObject }[];
}

const scenario = process.env["MCP_CONFORMANCE_SCENARIO"] ?? "";
const given = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}") as Given;
const url = process.argv[2] ?? "";
const isModern = process.env["MCP_CONFORMANCE_PROTOCOL_VERSION"] === "2026-07-28";
const isAuth = scenario.startsWith("auth/");
/** The suite's servers of these scenarios answer no `server/discover`. */
const undiscovered = ["http-standard-headers", "http-custom-headers", "http-invalid-tool-headers"];

const discovering: typeof fetch = async (input, init) => {
  const message = typeof init?.body === "string" ? (JSON.parse(init.body) as { method?: string; id?: unknown }) : {};
  if (message.method !== "server/discover") return fetch(input, init);
  const _meta = { "io.modelcontextprotocol/serverInfo": { name: "suite", version: "0" } };
  const result = { supportedVersions: ["2026-07-28"], capabilities: { tools: {} }, _meta };
  return Response.json({ jsonrpc: "2.0", id: message.id, result });
};

/** The person of the suite: its page leads back at once. */
async function visit(address: string): Promise<string> {
  const response = await fetch(address, { redirect: "manual" });
  return response.headers.get("location") ?? "";
}

/** The suite has its issuers at random ports. Its person accepts each one that the server names. */
const issuers = [new URL(url).origin];
const accepting: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  const isRead = (init?.method ?? "GET") === "GET";
  if (!isRead || response.headers.get("content-type")?.includes("json") !== true) return response;
  const text = await response.text();
  const { authorization_servers = [] } = JSON.parse(text) as { readonly authorization_servers?: readonly string[] };
  issuers.push(...authorization_servers);
  return new Response(text, { status: response.status, headers: response.headers });
};

const { client_id: id, client_secret: secret } = given;
const signIn = {
  issuers,
  redirectUrl: "http://localhost:3000/callback",
  clientMetadataUrl: "https://conformance-test.local/client-metadata.json",
  visit,
  ...(id !== undefined && { client: { id, ...(secret !== undefined && { secret }) } }),
};

const server = mcpHttp({
  url,
  ...(undiscovered.includes(scenario) && { fetch: discovering }),
  ...(isAuth && { fetch: accepting, signIn }),
});
const kernel = await createKernel({
  policy: {
    version: "1",
    posture: "permissive",
    grants: server.capabilities.map((capability) => ({ tool: "*", capability })),
  },
});
const source = await mcpSource(kernel, {
  name: "suite",
  server,
  ...(!isModern && !isAuth && { era: "2025-11-25" as const }),
});

async function call(serverName: string, input: JsonObject): Promise<void> {
  const tool = source.tools.find((each) => each.serverName === serverName);
  // The suite sends `null` for an optional boolean, which its own schema refuses.
  const entries = Object.entries(input).filter(([, value]) => value !== null);
  const result = await kernel.call(tool?.name ?? serverName, Object.fromEntries(entries));
  if (!result.ok) process.stderr.write(`${serverName}: ${result.error.code} ${result.error.message}\n`);
}

/** The schema of a tool as its pin has it. */
function schemaOf(serverName: string): JsonObject {
  const pinned = kernel.list().map((tool) => source.definitionOf(tool));
  return (pinned.find((tool) => tool?.name === serverName)?.inputSchema ?? {}) as JsonObject;
}

const inputs: Readonly<Record<string, () => JsonObject>> = {
  tools_call: () => ({ a: 5, b: 3 }),
  "http-invalid-tool-headers": () => ({ region: "us-west1" }),
  "json-schema-2020-12-preservation": () => ({ schema: schemaOf("json_schema_2020_12_tool") }),
};
const names = source.tools.map(({ serverName }) => serverName);
const called = scenario === "json-schema-2020-12-preservation" ? ["json_schema_echo"] : names;
if (given.toolCalls) for (const { name, arguments: input } of given.toolCalls) await call(name, input);
else for (const name of called) await call(name, inputs[scenario]?.() ?? {});
await source.close();
await kernel.close();
