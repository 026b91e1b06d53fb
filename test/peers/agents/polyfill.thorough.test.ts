import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { type Browser, chromium, type Page } from "playwright";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chromiumArgs, findChromium } from "../../../scripts/chromium.mjs";

/* The kernel's tools in a browser without WebMCP, through the polyfill that pages load. It hands on text where Chromium hands on an object. */

const program = `
import { initializeWebMCPPolyfill } from "@mcp-b/webmcp-polyfill";
import { createKernel, defineTool } from "@keyhole/kernel";
import { exposeToPage } from "@keyhole/agents/webmcp";

initializeWebMCPPolyfill();
const input = { type: "object", properties: { n: { type: "integer" } }, required: ["n"], additionalProperties: false };
const common = { version: "1.0.0", output: { kind: "json" } };
const kernel = await createKernel({ policy: { version: "1", posture: "standard" } });
for (const tool of [
  defineTool({ ...common, name: "twice", description: "Doubles.", input, execute: ({ n }) => ({ twice: n * 2 }) }),
  defineTool({ ...common, name: "save", description: "Saves.", tier: 2, input: { type: "object" }, execute: () => "saved" }),
]) kernel.registerTrusted(tool);
globalThis.exposed = await exposeToPage(kernel, { caller: "page" });
`;

interface Globals {
  readonly document: {
    readonly modelContext: {
      getTools(): Promise<readonly { readonly name: string }[]>;
      executeTool(tool: unknown, input: string): Promise<string | null>;
    };
  };
  readonly exposed: { close(): void };
}

const server = createServer((_, response) => response.setHeader("content-type", "text/html").end("<!doctype html>"));
let script = "";
beforeAll(async () => {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: fileURLToPath(new URL(".", import.meta.url)), loader: "js" },
    bundle: true,
    format: "esm",
    conditions: ["keyhole-source"],
    write: false,
  });
  script = outputFiles[0]?.text ?? "";
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(() => server.close());

describe("the kernel's tools in the polyfill", () => {
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    const executablePath = findChromium();
    if (executablePath === undefined) throw new Error("Chromium is missing: apt-get install chromium");
    browser = await chromium.launch({ executablePath, args: [...chromiumArgs] });
    page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    await page.addScriptTag({ type: "module", content: script });
    await page.waitForFunction(() => "exposed" in globalThis);
  });
  afterAll(() => browser.close());

  const execute = (name: string, input: unknown): Promise<string | null> =>
    page.evaluate(
      async ([tool, text]) => {
        const { modelContext } = (globalThis as unknown as Globals).document;
        const found = (await modelContext.getTools()).find((each) => each.name === tool);
        return modelContext.executeTool(found, text);
      },
      [name, JSON.stringify(input)] as const,
    );

  it("run, are checked, and are not approved by the page's agent", async () => {
    expect(await execute("twice", { n: 4 })).toContain("8");
    expect(await execute("twice", { n: "four" })).toContain("INVALID_INPUT");
    expect(await execute("save", {})).toContain("APPROVAL_DENIED");
  });

  it("are gone once they are closed", async () => {
    const names = await page.evaluate(async () => {
      const { document, exposed } = globalThis as unknown as Globals;
      exposed.close();
      return (await document.modelContext.getTools()).map(({ name }) => name);
    });
    expect(names).toEqual([]);
  });
});
