import { build } from "esbuild";
import { chromium } from "playwright";
import { describe, expect, it } from "vitest";
import { chromiumArgs, findChromium } from "../../scripts/chromium.mjs";
import { afterwards, closeAfterEach } from "../mcp/support.ts";
import { root } from "../support/sources.ts";
import { NatsServer, natsServerPath } from "./nats-server.ts";
import { calling } from "./support.ts";

closeAfterEach();

/** The page of docs/how-to/bus.md, over NATS: its kernel serves a tool that only a page can have. */
const program = `
import { everyCaller, natsBus, serveOnBus } from "@keyhole/bus";
import { createKernel, defineTool } from "@keyhole/kernel";
import { headers, wsconnect } from "@nats-io/nats-core";

globalThis.serve = async (url) => {
  const kernel = await createKernel({ policy: { version: "1", posture: "standard" } });
  kernel.registerTrusted(defineTool({
    name: "page_title", version: "1.0.0", description: "Gives the title of the page.", determinism: "external",
    input: { type: "object", additionalProperties: false }, output: { kind: "text" },
    execute: (_, { progress }) => { progress({ done: 1 }); return document.title; },
  }));
  const connection = await wsconnect({ servers: url, maxReconnectAttempts: -1 });
  await serveOnBus(kernel, natsBus(connection, headers), { callers: everyCaller({ caller: "node" }) });
};
`;

async function bundled(): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: `${root}packages/bus` },
    bundle: true,
    write: false,
    format: "esm",
    conditions: ["keyhole-source"],
  });
  return outputFiles[0]!.text;
}

describe.skipIf(natsServerPath === undefined)("a tool that a page serves", () => {
  it("is called by a kernel of Node, over NATS", async () => {
    const server = await NatsServer.open();
    const executablePath = findChromium();
    const browser = await chromium.launch({
      args: chromiumArgs,
      ...(executablePath !== undefined && { executablePath }),
    });
    afterwards(() => browser.close());
    const page = await browser.newPage();
    await page.setContent("<!doctype html><title>Orders of today</title>");
    await page.addScriptTag({ type: "module", content: await bundled() });
    await page.waitForFunction(() => "serve" in globalThis);
    await page.evaluate(
      (url) => (globalThis as unknown as { serve(url: string): Promise<void> }).serve(url),
      server.pageUrl,
    );
    const near = await calling(await server.bus(), { expect: ["page_title"] });
    const done: number[] = [];
    const result = await near.call("page_title", {}, { onProgress: (progress) => done.push(progress.done) });
    expect(result).toMatchObject({ ok: true, data: "Orders of today" });
    expect(done).toEqual([1]);
  });
});
