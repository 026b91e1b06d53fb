import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { build } from "esbuild";
import { type Browser, chromium, type Page } from "playwright";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chromiumArgs, findChromium } from "../../scripts/chromium.mjs";
import { root } from "../support/sources.ts";

/** A page that gives three tools to the browser's own agents. */
const program = `
import { createFullKernel, defineTool } from "@keyhole/kernel";
import { pageToolsSource } from "@keyhole/agents/page-tools";
import { exposeToPage } from "@keyhole/agents/webmcp";

const common = { version: "1.0.0", output: { kind: "json" } };
const input = { type: "object", properties: { n: { type: "integer" } }, required: ["n"], additionalProperties: false };
const kernel = await createFullKernel({ policy: { version: "1", posture: "standard" } });
const tools = [
  defineTool({ ...common, name: "twice", description: "Doubles.", input, execute: ({ n }) => ({ twice: n * 2 }) }),
  defineTool({ ...common, name: "save", description: "Saves.", tier: 2, input: { type: "object" }, execute: () => "saved" }),
  defineTool({
    ...common, name: "wait", description: "Waits.", input: { type: "object" },
    execute: (_, { signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("stopped")))),
  }),
];
for (const tool of tools) kernel.registerTrusted(tool);
globalThis.kernel = kernel;
globalThis.exposed = await exposeToPage(kernel, { caller: "page" });
globalThis.governed = async (input) => {
  const leave = new AbortController();
  document.modelContext.registerTool({
    name: "Own-tool", description: "Is the page's own.", inputSchema: ${JSON.stringify({
      type: "object",
      properties: { n: { type: "integer" } },
      required: ["n"],
    })},
    execute: async ({ n }) => ({ got: n }),
  }, { signal: leave.signal });
  const source = await pageToolsSource(kernel);
  const approver = async () => ({ answer: "allow", scope: "once", approver: "ann" });
  const asked = await kernel.call("page___uown__dtool", input);
  const allowed = await kernel.call("page___uown__dtool", input, { approver });
  const names = [...source.tools.values()];
  await source.close();
  leave.abort();
  return { names, asked: asked.ok || asked.error.code, allowed: allowed.ok ? allowed.data : allowed.error.code };
};
`;

interface Tool {
  readonly name: string;
  readonly annotations: { readonly readOnlyHint: boolean };
}
interface Globals {
  readonly document: {
    readonly modelContext: {
      getTools(): Promise<readonly Tool[]>;
      executeTool(tool: Tool, input: unknown, options?: { readonly signal: AbortSignal }): Promise<string>;
    };
  };
  readonly kernel: { readonly audit: { read(): Promise<readonly { readonly type: string }[]> } };
  readonly exposed: { close(): void };
  governed(input: unknown): Promise<unknown>;
}

let browser: Browser;
let page: Page;
const server = createServer((_, response) => response.setHeader("content-type", "text/html").end("<!doctype html>"));

beforeAll(async () => {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: `${root}test`, loader: "js" },
    bundle: true,
    format: "esm",
    conditions: ["keyhole-source"],
    write: false,
  });
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error("Chromium is missing: apt-get install chromium");
  browser = await chromium.launch({ executablePath, args: [...chromiumArgs, "--enable-features=WebMCP"] });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  await page.addScriptTag({ type: "module", content: outputFiles[0]!.text });
  await page.waitForFunction(() => "exposed" in globalThis);
});
afterAll(async () => {
  await browser.close();
  server.close();
});

async function execute(name: string, input: unknown): Promise<unknown> {
  const text = await page.evaluate(
    async ([name, input]) => {
      const { modelContext } = (globalThis as unknown as Globals).document;
      const tool = (await modelContext.getTools()).find((each) => each.name === name);
      return modelContext.executeTool(tool!, input);
    },
    [name, input] as const,
  );
  return JSON.parse(text) as unknown;
}

describe("the kernel's tools in Chromium's WebMCP", () => {
  it("are listed with hints", async () => {
    const hints = await page.evaluate(async () => {
      const tools = await (globalThis as unknown as Globals).document.modelContext.getTools();
      return tools.map(({ name, annotations }) => [name, annotations.readOnlyHint]);
    });
    expect(hints).toEqual(expect.arrayContaining([["twice", true], ["save", false]])); // prettier-ignore
  });

  it("run, and check the input that the browser does not check", async () => {
    expect(await execute("twice", { n: 21 })).toEqual({ twice: 42 });
    expect(await execute("twice", { n: "x" })).toMatchObject({ error: { code: "INVALID_INPUT" } });
  });

  it("are not approved by the page's agent", async () => {
    expect(await execute("save", {})).toMatchObject({ error: { code: "APPROVAL_DENIED" } });
  });

  it("end when the agent cancels", async () => {
    const types = await page.evaluate(async () => {
      const { document, kernel } = globalThis as unknown as Globals;
      const tool = (await document.modelContext.getTools()).find(({ name }) => name === "wait");
      const stop = new AbortController();
      const running = document.modelContext.executeTool(tool!, {}, { signal: stop.signal }).catch(() => "");
      const typesUntil = async (type: string): Promise<readonly string[]> => {
        const types = (await kernel.audit.read()).map((event) => event.type).slice(-2);
        if (types.includes(type)) return types;
        await new Promise((resolve) => setTimeout(resolve, 10));
        return typesUntil(type);
      };
      await typesUntil("tool.started");
      stop.abort();
      await running;
      return typesUntil("tool.failed");
    });
    expect(types).toContain("tool.failed");
  });

  it("govern a tool that the page registered, and are not governed twice", async () => {
    const governed = (input: unknown) =>
      page.evaluate((given) => (globalThis as unknown as Globals).governed(given), input);
    expect(await governed({ n: 2 })).toEqual({ names: ["Own-tool"], asked: "APPROVAL_DENIED", allowed: { got: 2 } });
    expect(await governed({ n: "x" })).toMatchObject({ asked: "INVALID_INPUT", allowed: "INVALID_INPUT" });
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
