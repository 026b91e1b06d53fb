import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { build } from "esbuild";
import { type Browser, chromium, firefox, type Page } from "playwright";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chromiumArgs, findChromium } from "../../scripts/chromium.mjs";
import { findFirefox } from "../../scripts/engines.mjs";
import { newAuthenticator, rpId } from "../support/authenticator.ts";
import { thorough } from "../support/size.ts";
import { root } from "../support/sources.ts";

/** A page that gives three tools to the browser's own agents. */
const program = `
import { createKernel, defineTool } from "@keyhole/kernel";
import { pageToolsSource } from "@keyhole/agents/page-tools";
import { exposeToPage } from "@keyhole/agents/webmcp";

const common = { version: "1.0.0", output: { kind: "json" } };
const input = { type: "object", properties: { n: { type: "integer" } }, required: ["n"], additionalProperties: false };
const kernel = await createKernel({ policy: { version: "1", posture: "standard" } });
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
globalThis.clickedKernel = async (policy) => {
  const approver = () => new Promise((resolve) => {
    const button = document.body.appendChild(document.createElement("button"));
    button.textContent = "Allow";
    button.onclick = ({ isTrusted }) => {
      button.remove();
      resolve({ answer: "allow", scope: "once", approver: isTrusted ? "a person" : "a script" });
    };
  });
  const clicked = await createKernel({ policy: { version: "1", posture: "standard", ...policy }, approver });
  for (const tier of [1, 2, 3])
    clicked.registerTrusted(defineTool({ ...common, name: "tier_" + tier, description: "Does.", tier, input: { type: "object" }, execute: () => "did" }));
  const { close } = await exposeToPage(clicked, { caller: "page" });
  return { kernel: clicked, close };
};
globalThis.exposed = await exposeToPage(kernel, { caller: "page" });
globalThis.governed = async (input) => {
  const leave = new AbortController();
  const context = document.modelContext ?? navigator.modelContext;
  context.registerTool({
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
  context.unregisterTool?.("Own-tool");
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
  clickedKernel(policy: object): Promise<{
    readonly kernel: {
      readonly audit: { read(): Promise<readonly { readonly type: string; readonly payload: object }[]> };
    };
    close(): void;
  }>;
}

let browser: Browser;
let page: Page;
let script = "";
const server = createServer((_, response) => response.setHeader("content-type", "text/html").end("<!doctype html>"));

beforeAll(async () => {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: `${root}test`, loader: "js" },
    bundle: true,
    format: "esm",
    conditions: ["keyhole-source"],
    write: false,
  });
  script = outputFiles[0]!.text;
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error("Chromium is missing: apt-get install chromium");
  browser = await chromium.launch({ executablePath, args: [...chromiumArgs, "--enable-features=WebMCP"] });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  page = await openPage(browser);
});
afterAll(async () => {
  await browser.close();
  server.close();
});

async function openPage(opener: Browser): Promise<Page> {
  const opened = await opener.newPage();
  await opened.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  await opened.addScriptTag({ type: "module", content: script });
  await opened.waitForFunction(() => "exposed" in globalThis);
  return opened;
}

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

/** An agent that calls every tool of the page, and presses every button, until each call has an end. */
async function callAndClickAll(policy: object): Promise<{ readonly ran: unknown; readonly approvers: unknown }> {
  return page.evaluate(async (given) => {
    const { document: asked, clickedKernel } = globalThis as unknown as Globals;
    const { kernel, close } = await clickedKernel(given);
    const press = setInterval(() => document.querySelectorAll("button").forEach((button) => button.click()), 5);
    for (const tool of await asked.modelContext.getTools()) await asked.modelContext.executeTool(tool, {});
    clearInterval(press);
    close();
    const payloads = async (type: string): Promise<readonly Record<string, unknown>[]> =>
      (await kernel.audit.read()).filter((event) => event.type === type).map(({ payload }) => ({ ...payload }));
    const approvers = (await payloads("approval.resolved")).map(({ approver }) => approver);
    return { ran: (await payloads("tool.started")).length, approvers };
  }, policy);
}

describe("a page's agent that calls and clicks everything", () => {
  it("obtains no approval where the policy demands a passkey", async () => {
    const { passkey } = await newAuthenticator("ann");
    const passkeys = { rpId, origins: [`https://${rpId}`], keys: [passkey] };
    expect(await callAndClickAll({ approver: "passkey", passkeys })).toMatchObject({ ran: 1 });
  });

  it("is named by the log as the page's approver named it, where no passkey is demanded", async () => {
    expect(await callAndClickAll({})).toEqual({ ran: 3, approvers: ["a script", "a script"] });
  });
});

const fox = findFirefox();

if (thorough) {
  describe.skipIf(fox === undefined)("the kernel's tools in Firefox's WebMCP", () => {
    it("run, are checked, are not approved by the page's agent, and are gone once they are closed", async () => {
      // The second is for `invokeTool`, which agents of the browser do not need.
      const firefoxUserPrefs = { "dom.modelcontext.enabled": true, "dom.modelcontext.testing.enabled": true };
      const options = { channel: "moz-firefox", firefoxUserPrefs };
      const other = await firefox.launch({ ...options, ...(fox !== undefined && { executablePath: fox }) });
      try {
        const said = await (
          await openPage(other)
        ).evaluate(async () => {
          interface ModelContext {
            getTools(): Promise<readonly { readonly name: string }[]>;
            invokeTool(name: string, input: object): Promise<unknown>;
          }
          const { modelContext } = navigator as unknown as { readonly modelContext: ModelContext };
          const { exposed, governed } = globalThis as unknown as Globals;
          const answers = [
            await modelContext.invokeTool("twice", { n: 21 }),
            await modelContext.invokeTool("twice", { n: "x" }),
            await modelContext.invokeTool("save", {}),
            await governed({ n: 2 }),
          ];
          exposed.close();
          return [...answers, await modelContext.getTools()];
        });
        expect(said).toMatchObject([
          { twice: 42 },
          { error: { code: "INVALID_INPUT" } },
          { error: { code: "APPROVAL_DENIED" } },
          { names: ["Own-tool"], asked: "APPROVAL_DENIED", allowed: { got: 2 } },
          [],
        ]);
      } finally {
        await other.close();
      }
    });
  });
}
