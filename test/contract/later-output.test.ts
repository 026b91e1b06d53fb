import { globSync, readFileSync } from "node:fs";
import { agentTools } from "../../packages/agents/src/agent-tools.ts";
import { everyCaller, memoryBus, serveOnBus } from "@keyhole/bus";
import { createKernel, type Kernel, type PolicyDocument, type ToolContext } from "@keyhole/kernel";
import { contentStore } from "@keyhole/worker-host/content";
import { memoryStore } from "@keyhole/worker-host/brokers/files";
import { kvBroker, memoryKv } from "@keyhole/worker-host/brokers/kv";
import { readDefinition } from "@keyhole/kernel/foreign-tools";
import { describe, expect, it } from "vitest";
import { collector } from "../bus/contract.ts";
import { afterwards, closeAfterEach, connected } from "../mcp/support.ts";
import { granting, toolOf } from "../support/kernel.ts";
import { root } from "../support/sources.ts";

closeAfterEach();

const mark = "the output";
const policy = granting({ kind: "kv.read", keys: ["*"] });
const content = contentStore(memoryStore());

/** A kernel whose one tool reads a value that is too large for an answer. */
async function opened(): Promise<Kernel> {
  const values = memoryKv();
  const kernel = await createKernel({ policy, content, brokers: [kvBroker(values)] });
  afterwards(() => kernel.close());
  const read = async (_: never, { kv }: ToolContext): Promise<string> => {
    await kv.get("a");
    return mark.repeat(110_000);
  };
  const more = {
    name: "read",
    tier: 1,
    determinism: "external",
    output: { kind: "text" },
    capabilities: [{ kind: "kv.read", keys: ["*"], optional: true }],
    effects: ["kv.read"],
    bounds: { outputBytes: 2_000_000 },
  };
  kernel.registerTrusted(toolOf(read, more));
  return kernel;
}

/** Makes the call, and returns the way to read its output later. */
type Door = (kernel: Kernel) => Promise<() => Promise<string>>;

const link: Door = async (kernel) => {
  const client = await connected("http", "2026-07-28", kernel, { content });
  const { content: blocks } = await client.callTool({ name: "read", arguments: {} });
  const { uri } = blocks[0] as { readonly uri: string };
  return async () => JSON.stringify(await client.readResource({ uri }).catch(String));
};

const readOn: Door = async (kernel) => {
  const tools = await agentTools(kernel, { caller: "desk" });
  const answer = await tools[0]!.call({});
  const hash = answer.ok ? answer.hash : "";
  return async () => (await tools[1]!.call({ hash })).text;
};

const sameId: Door = async (kernel) => {
  const [tool] = await agentTools(kernel, { caller: "desk" });
  await tool!.call({}, { id: "1" });
  return async () => JSON.stringify(await tool!.call({}, { id: "1" }));
};

const sameKey: Door = async (kernel) => {
  const options = { caller: "desk", idempotencyKey: "k" };
  await kernel.call("read", {}, options);
  return async () => JSON.stringify(await kernel.call("read", {}, options));
};

const lostOnBus: Door = async (kernel) => {
  const bus = memoryBus();
  const server = await serveOnBus(kernel, bus.connect(), { callers: everyCaller({ caller: "desk" }) });
  afterwards(() => server.close());
  const port = bus.connect();
  const heard = collector();
  port.subscribe("_INBOX.probe.1", heard.listener);
  const publish = (kind: string, more: Readonly<Record<string, string>>, body: string): void => {
    const headers = new Map(Object.entries({ "keyhole-kind": kind, "keyhole-correlation": "0".repeat(32), ...more }));
    port.publish(`keyhole.tool.read.${kind}`, {
      reply: "_INBOX.probe.1",
      headers,
      body: new TextEncoder().encode(body),
    });
  };
  const next = async (count: number): Promise<string> => {
    await heard.until(count);
    return heard.messages
      .splice(0)
      .map(({ body }) => new TextDecoder().decode(body))
      .join("");
  };
  publish("describe", {}, "");
  const read = readDefinition(JSON.parse((await next(2)).split("}{")[0]!) as { name: string });
  const more = {
    "keyhole-deadline": String(Date.now() + 60_000),
    "keyhole-definition": read.ok ? read.pin.hash : "",
  };
  const ask = (): Promise<string> => {
    publish("request", more, "{}");
    return next(1);
  };
  await ask();
  return ask;
};

const doors: readonly (readonly [string, Door])[] = [
  ["a link of the MCP server", link],
  ["read_result", readOn],
  ["a framework's second question for one call", sameId],
  ["an idempotency key", sameKey],
  ["a bus whose caller lost the result", lostOnBus],
];

const other: PolicyDocument = { ...policy, grants: [{ tool: "read", capability: { kind: "kv.read", keys: ["b"] } }] };
const changes: readonly (readonly [string, (kernel: Kernel) => Promise<unknown>])[] = [
  ["LOCKDOWN", (kernel) => kernel.setMode("LOCKDOWN", "drill")],
  ["a stricter mode that asks a person", (kernel) => kernel.setMode("RECOVERY", "drill")],
  ["a policy that grants less", (kernel) => kernel.setPolicy(other)],
  [
    "the revocation of a kind that the call used",
    (kernel) => kernel.grants.revoke({ caller: "desk", kinds: ["kv.read"] }, "Enough."),
  ],
];

describe.each(doors)("an output that is read later through %s", (_, door) => {
  it.each(changes)("is not given after %s", async (_, change) => {
    const kernel = await opened();
    const again = await door(kernel);
    expect(await again()).toContain(mark);
    await change(kernel);
    expect(await again()).not.toContain(mark);
  });
});

/** Files that read stored outputs, and the reason why each of them may. A new door uses `HeldOutput`, and joins {@link doors}. */
const readers = {
  "packages/edge/src/app/routes.ts": "GET /v1/content, for tokens with the scope content:read",
  "packages/kernel/src/audit/redact.ts": "the export of a log",
  "packages/mcp/src/server/content.ts": "opens a HeldOutput",
};

it("no other code keeps results of calls, or reads stored outputs", () => {
  const files = globSync("packages/*/src/**/*.ts", { cwd: root }).map(
    (path) => [path, readFileSync(`${root}${path}`, "utf8")] as const,
  );
  const reads = files
    .filter(([, text]) => /\b(?:content|store)\.get\((?:digest|hash)\)/.test(text))
    .map(([path]) => path);
  expect(reads.toSorted()).toEqual(Object.keys(readers));
  const keeps = files.filter(([, text]) =>
    /(?:Map|Set)<[^;{}]*\b(?:CallResult|CallSuccess|AgentAnswer|AgentResult)\b/.test(text),
  );
  expect(keeps.filter(([, text]) => !text.includes("HeldOutput")).map(([path]) => path)).toEqual([]);
});
