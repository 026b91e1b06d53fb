import { describe, expect, it } from "vitest";
import { afterwards, closeAfterEach } from "../mcp/support.ts";
import { startEdgeWorker } from "../support/edge-worker.ts";
import { NatsServer, natsServerPath } from "./nats-server.ts";
import { calling, serving } from "./support.ts";

closeAfterEach();

const policy = {
  version: "1",
  posture: "permissive",
  grants: [{ tool: "settle", capability: { kind: "tool.call", tools: ["far_pay"] } }],
};

/** A service whose tool calls one of the bus, and is offered there. */
const program = (servers: string): string => `
import { gatewayWorker, kernelObject } from "@keyhole/edge";
import { edgeBus } from "@keyhole/edge/bus";
import { headers, wsconnect } from "@nats-io/nats-core";
const config = {
  version: "1",
  pipelines: {
    settle: {
      description: "Pays five.",
      steps: [{ id: "paid", tool: "far_pay", input: { amount: 5 } }],
      output: { paid: { $from: "paid#/paid" } },
    },
  },
  policy: ${JSON.stringify(policy)},
  bus: {
    servers: [${JSON.stringify(servers)}],
    serve: { sealed: [{ id: "shop", key: { env: "SHOP_KEY" }, caller: "shop" }], tools: ["settle"] },
    sources: { far: { expect: ["pay"] } },
  },
};
export class KernelObject extends kernelObject({ config, tools: [], policy: config.policy, bus: edgeBus({ wsconnect, headers }) }) {}
export default gatewayWorker;
`;

const scopes = ["tools:read", "tools:call"];
const tokens = { mine: { subject: "me", scopes }, others: { subject: "eve", scopes, tenant: "other" } };

async function edge(servers: string): Promise<{
  readonly health: () => Promise<unknown>;
  readonly toolsOf: (token: string) => Promise<readonly string[]>;
}> {
  const { url, stop } = await startEdgeWorker(program(servers), tokens, {
    variables: { SHOP_KEY: "07".repeat(32) },
  });
  afterwards(stop);
  return {
    health: async () => (await fetch(`${url}/healthz`)).json(),
    async toolsOf(token) {
      const response = await fetch(`${url}/v1/tools`, { headers: { authorization: `Bearer ${token}` } });
      const { tools } = (await response.json()) as {
        readonly tools: readonly { readonly manifest: { readonly name: string } }[];
      };
      return tools.map(({ manifest }) => manifest.name).toSorted();
    },
  };
}

describe.skipIf(natsServerPath === undefined)("the section bus of a configuration at the edge", () => {
  it("calls a tool of Node, and serves one to Node, for the tenant default alone", async () => {
    const server = await NatsServer.open();
    const port = await server.bus();
    const { served } = await serving(port, { tools: ["pay"] });
    const { health, toolsOf } = await edge(server.pageUrl);
    expect(await toolsOf("mine")).toEqual(["far_pay", "settle"]);
    expect(await toolsOf("others")).toEqual(["settle"]);
    expect(await health()).toEqual({ status: "ok" });
    const credential = { id: "shop", key: new Uint8Array(32).fill(7) };
    const near = await calling(port, { name: "edge", expect: ["settle"], credential });
    expect(await near.kernel.call("edge_settle", {})).toMatchObject({ ok: true, data: { paid: 5 } });
    expect(served.deeds).toEqual(["pay 5"]);
  });

  it.each([
    ["without a server", "ws://127.0.0.1:1"],
    ["with an address that Workers cannot reach", "nats://127.0.0.1:4222"],
  ])("%s runs the other tools, and says so to probes", async (_, servers) => {
    const { health, toolsOf } = await edge(servers);
    expect(await toolsOf("mine")).toEqual(["settle"]);
    expect(await health()).toEqual({
      status: "unavailable",
      causes: [{ code: "MISCONFIGURED", detail: "The edge cannot join the bus." }],
    });
  });
});
