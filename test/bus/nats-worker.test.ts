import { build } from "esbuild";
import { describe, expect, it } from "vitest";
import { loadWrangler } from "../../packages/edge/src/dev/wrangler.ts";
import { afterwards, closeAfterEach } from "../mcp/support.ts";
import { root } from "../support/sources.ts";
import { NatsServer, natsServerPath } from "./nats-server.ts";
import { calling, serving } from "./support.ts";

closeAfterEach();

/** A Worker that calls a tool of the bus for each request, and serves one of its own while the request lasts. */
const program = `
import { busSource, everyCaller, natsBus, serveOnBus } from "@keyhole/bus";
import { createKernel, defineTool } from "@keyhole/kernel";
import { headers, wsconnect } from "@nats-io/nats-core";

export default {
  async fetch(request) {
    const { url, serve } = await request.json();
    const kernel = await createKernel({ policy: { version: "1", posture: "permissive" } });
    const connection = await wsconnect({ servers: url });
    const bus = natsBus(connection, headers);
    if (!serve) {
      const source = await busSource(kernel, bus, { name: "far", expect: ["bytes", "pay"] });
      const paid = await kernel.call("far_pay", { amount: 3 });
      const bytes = await kernel.call("far_bytes", { length: 3_000_000 });
      await source.close();
      await connection.close();
      return Response.json({ paid, length: bytes.ok && bytes.data.length });
    }
    const called = Promise.withResolvers();
    kernel.registerTrusted(defineTool({
      name: "agent", version: "1.0.0", description: "Names the runtime.", determinism: "external",
      input: { type: "object" }, output: { kind: "text" },
      execute: (_, { progress }) => { progress({ done: 1 }); called.resolve(); return navigator.userAgent; },
    }));
    const server = await serveOnBus(kernel, bus, { callers: everyCaller({ caller: "node" }) });
    await called.promise;
    await server.close();
    await connection.drain();
    return Response.json({ served: true });
  },
};
`;

/** Where a workerd of its own answers. */
async function worker(): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: `${root}packages/bus` },
    bundle: true,
    write: false,
    format: "esm",
    conditions: ["keyhole-source", "workerd", "worker", "browser"],
  });
  const { miniflare } = await loadWrangler();
  const options = { modules: true, script: outputFiles[0]!.text, compatibilityDate: "2026-01-01", host: "127.0.0.1" };
  const workerd = new miniflare.Miniflare(miniflare.convertV4MiniflareOptions(options));
  afterwards(() => workerd.dispose());
  return String(await workerd.ready);
}

async function ask(address: string, body: object): Promise<unknown> {
  const response = await fetch(address, { method: "POST", body: JSON.stringify(body) });
  return response.json();
}

describe.skipIf(natsServerPath === undefined)("a Worker on the bus, over the WebSocket transport", () => {
  it("calls a tool of Node, also one with a result in parts", async () => {
    const server = await NatsServer.open();
    const { served } = await serving(await server.bus());
    expect(await ask(await worker(), { url: server.pageUrl })).toMatchObject({
      paid: { ok: true, data: { paid: 3 } },
      length: 3_000_000,
    });
    expect(served.deeds).toEqual(["pay 3"]);
  });

  it("serves a tool, which a kernel of Node calls", async () => {
    const server = await NatsServer.open();
    const port = await server.bus();
    const announced = Promise.withResolvers<void>();
    port.subscribe("keyhole.tool._.announce", () => announced.resolve());
    await port.flush();
    const serves = ask(await worker(), { url: server.pageUrl, serve: true });
    await announced.promise;
    const near = await calling(port, { expect: ["agent"] });
    const done: number[] = [];
    const result = await near.call("agent", {}, { onProgress: (progress) => done.push(progress.done) });
    expect(result).toMatchObject({ ok: true, data: "Cloudflare-Workers" });
    expect(done).toEqual([1]);
    expect(await serves).toEqual({ served: true });
  });
});
