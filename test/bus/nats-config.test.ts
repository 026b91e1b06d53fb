import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CallResult, defineTool, type Kernel } from "@keyhole/kernel";
import { loadConfig, openConfigured } from "@keyhole/worker-host/node/config";
import { describe, expect, it } from "vitest";
import { runCommand } from "../../packages/keyhole/src/command/run-command.ts";
import { afterwards, closeAfterEach } from "../mcp/support.ts";
import { ioIn } from "../support/command-files.ts";
import { RawClient } from "./nats-raw.ts";
import { NatsServer, natsServerPath } from "./nats-server.ts";

process.env["KEYHOLE_TEST_BUS_KEY"] = "ab".repeat(32);
process.env["KEYHOLE_TEST_BUS_SHORT"] = "abcd";

const offering = (servers: string): string => `version: "1"
policy: { version: "1", posture: permissive }
bus:
  servers: [${servers}]
  serve:
    tools: [stock]
    sealed: [{ id: shop, key: { env: KEYHOLE_TEST_BUS_KEY }, caller: shop }]
`;

const calling = (servers: string): string => `version: "1"
pipelines:
  apples:
    description: Counts the apples.
    steps: [{ id: counted, tool: store_stock, input: { of: apples } }]
    output: { apples: { $from: counted#/count } }
policy:
  version: "1"
  posture: standard
  grants: [{ tool: apples, capability: { kind: tool.call, tools: [store_stock] } }]
bus:
  servers: [${servers}]
  sources:
    store:
      expect: [stock]
      tiers: { stock: 1 }
      credential: { id: shop, key: { env: KEYHOLE_TEST_BUS_KEY } }
`;

const stock = defineTool({
  name: "stock",
  version: "1.0.0",
  description: "Counts what is in the store.",
  determinism: "external",
  input: { type: "object", properties: { of: { type: "string" } }, required: ["of"] },
  output: { kind: "json" },
  execute: ({ of }) => ({ of, count: 7 }),
});

async function folderWith(text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "keyhole-bus-config-"));
  afterwards(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, "keyhole.config.yaml"), text);
  return folder;
}

/** The kernel of a configuration. */
async function opened(text: string): Promise<Kernel> {
  const loaded = await loadConfig("keyhole.config.yaml", await folderWith(text));
  if (!loaded.ok) throw new Error(loaded.message);
  const { kernel, close } = await openConfigured(loaded.value);
  afterwards(close);
  return kernel;
}

describe.skipIf(natsServerPath === undefined)("the section bus of a configuration", () => {
  closeAfterEach();

  it("warns of messages that cannot be read", async () => {
    const server = await NatsServer.open();
    const far = await opened(offering(server.url));
    far.registerTrusted(stock);
    const warned = once(process, "warning");
    const raw = await RawClient.open(server.url);
    raw.publish("keyhole.tool.x.describe", "NATS/1.0\r\n(bad) name: x");
    const message = expect.stringContaining("cannot be read") as string;
    expect(await warned).toMatchObject([{ name: "KeyholeBusWarning", message }]);
  });

  it("offers tools to sealed callers, and a pipeline of another configuration calls one", async () => {
    const server = await NatsServer.open();
    const far = await opened(offering(server.url));
    far.registerTrusted(stock);
    const near = await opened(calling(server.url));
    const result: CallResult = await near.call("apples", {});
    expect(result).toMatchObject({ ok: true, data: { apples: 7 } });
    const invoked = (await far.audit.read()).find(({ type }) => type === "call.invoked");
    expect(invoked?.payload).toMatchObject({ caller: "shop" });
    const folder = await folderWith(calling(server.url));
    const io = ioIn(folder);
    expect(await runCommand(["run", "store_stock", "--input", '{"of":"pears"}'], io)).toMatchObject({
      exitCode: 0,
      output: expect.stringContaining('"of": "pears"') as string,
    });
    expect(await runCommand(["run", "store_stok"], io)).toMatchObject({
      errorOutput: expect.stringContaining("Did you mean store_stock?") as string,
    });
  });

  it.each([
    ["a tool that no kernel serves", (text: string) => text, /:14:5 No kernel described/],
    ["a variable that is not set", (text: string) => text.replace("_KEY", "_NONE"), /:17:\d+ .*_NONE is not set/],
    ["a key of two bytes", (text: string) => text.replace("_KEY", "_SHORT"), /:17:\d+ .*is not a key of 32 bytes/],
    ["no server", (text: string) => text.replace(/127\.0\.0\.1:\d+/, "127.0.0.1:1"), /:12:\d+ No server of NATS/],
  ])("with %s is refused with file and line", async (_, change, message) => {
    const server = await NatsServer.open();
    await expect(opened(change(calling(server.url)))).rejects.toThrow(message);
  });

  it.each([
    ["an address that holds a password", (text: string) => text.replace("nats://", "nats://me:secret@"), 12],
    ["a source of two names", (text: string) => text.replace("    store:", "    my_store:"), 13],
    ["a tool of the name of a pipeline", (text: string) => text.replaceAll("apples:", "store_stock:"), 14],
  ])("with %s is refused before anything is opened", async (_, change, line) => {
    const folder = await folderWith(change(calling("nats://127.0.0.1:4222")));
    expect(await loadConfig("keyhole.config.yaml", folder)).toMatchObject({ ok: false, at: { line } });
  });

  it("without a word on who may call is refused", async () => {
    const text = offering("nats://127.0.0.1:4222").replace(/ {4}sealed:.*\n/, "");
    const folder = await folderWith(text);
    expect(await loadConfig("keyhole.config.yaml", folder)).toMatchObject({
      ok: false,
      message: expect.stringMatching(/keyhole\.config\.yaml:5:/) as string,
    });
  });
});
