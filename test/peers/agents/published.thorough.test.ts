import { readFileSync } from "node:fs";
import { anthropicTools } from "@keyhole/agents/anthropic";
import { type AgentKernel, codeMode } from "@keyhole/agents/code-mode";
import { promptApiTools } from "@keyhole/agents/prompt-api";
import type { JsonObject, Kernel } from "@keyhole/kernel";
import { toolTypes } from "@keyhole/kernel/tool-types";
import { PortTransport, serveMcpPort } from "@keyhole/mcp";
import { Client } from "@modelcontextprotocol/client";
import { transform } from "esbuild";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "../../support/sources.ts";
import { frameworks } from "./drivers.ts";
import { kernelOf, type PublishedTool, publishedTools, sampleOf } from "./published.ts";

let tools: readonly PublishedTool[];
let kernel: Kernel;
beforeAll(async () => {
  tools = await publishedTools();
  kernel = await kernelOf(tools);
});
afterAll(() => kernel.close());

const inputOf = ({ inputSchema }: PublishedTool): JsonObject => sampleOf(inputSchema, inputSchema) as JsonObject;

/** The kernel with one tool: what a framework is driven with. */
const withOne = (name: string): AgentKernel => ({
  list: () => kernel.list().filter(({ manifest }) => manifest.name === name),
  call: (tool, input, options) => kernel.call(tool, input, options),
  preview: (tool, input, options) => kernel.preview(tool, input, options),
});

describe("more than 100 published tools", () => {
  it("are there, and accept their samples", async () => {
    expect(tools.length).toBeGreaterThan(100);
    const refused: unknown[] = [];
    for (const tool of tools) {
      const result = await kernel.call(tool.name, inputOf(tool));
      if (!result.ok) refused.push([tool.name, result.error.message]);
    }
    expect(refused).toEqual([]);
  });

  it.each(Object.entries(frameworks))("list and are called in %s", async (_, { drive }) => {
    for (const tool of tools) {
      const text = (await drive(withOne(tool.name), { tool: tool.name, input: inputOf(tool) })).replaceAll('\\"', '"');
      expect(text, tool.name).toContain(`"name":"${tool.name}"`);
    }
  });

  it("list and are called in the Prompt API", async () => {
    const made = await promptApiTools(kernel);
    for (const tool of tools) {
      const own = made.find(({ name }) => name === tool.name);
      expect(await own?.execute(inputOf(tool)), tool.name).toContain(`"name":"${tool.name}"`);
    }
  });

  it("list and are called over MCP", async () => {
    const { port1, port2 } = new MessageChannel();
    serveMcpPort(kernel, port1, { caller: { caller: "agent" } });
    const client = new Client({ name: "agent", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
    await client.connect(new PortTransport(port2));
    const listed: string[] = [];
    for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
      const page = await client.listTools(cursor === undefined ? {} : { cursor });
      listed.push(...page.tools.map(({ name }) => name));
      cursor = page.nextCursor;
    }
    expect(listed.toSorted()).toEqual(tools.map(({ name }) => name).toSorted());
    for (const tool of tools) {
      const { content } = await client.callTool({ name: tool.name, arguments: { ...inputOf(tool) } });
      expect(JSON.stringify(content).replaceAll('\\"', '"'), tool.name).toContain(`"name":"${tool.name}"`);
    }
    await client.close();
  });

  it("have types that are TypeScript", async () => {
    const text = toolTypes(kernel.list().map(({ manifest }) => manifest));
    await expect(transform(text, { loader: "ts" })).resolves.toMatchObject({ warnings: [] });
  });
});

const shown = async (given: AgentKernel, options: object = {}): Promise<number> => {
  const made = await anthropicTools(given, options);
  return countTokens(
    JSON.stringify(made.map(({ name, description, input_schema }) => ({ name, description, input_schema }))),
  );
};

describe("the price of the context", () => {
  it("is the price in the documentation", async () => {
    const runner = {
      ...kernel.list()[0]!,
      id: "run_code@1.0.0",
      manifest: {
        ...kernel.list()[0]!.manifest,
        name: "run_code",
        description: "Runs a JavaScript program, the body of an async function.",
        input: { type: "object", properties: { code: { type: "string" } }, required: ["code"] },
      },
    };
    const withRunner: AgentKernel = { ...withOne(""), list: () => [...kernel.list(), runner] };
    const plain = await shown(kernel);
    const search = await shown(codeMode(withRunner));
    const five = kernel.list().filter((_, at) => at % 21 === 0).slice(0, 5); // prettier-ignore
    const described = countTokens(toolTypes(five.map(({ manifest }) => manifest)));
    const counts = [
      plain,
      await shown(kernel, await narrow(500)),
      await shown(codeMode(withRunner, { style: "types" })),
      search,
      search + described,
    ];
    const rounded = counts.map((tokens) => Number(tokens.toPrecision(2)).toLocaleString("en-US"));
    const page = readFileSync(`${root}docs/agents.md`, "utf8");
    expect(rounded.filter((figure) => !page.includes(` ${figure}`))).toEqual([]);
  });

  /** A budget, without the tools whose schema alone has more. */
  async function narrow(definitionBytes: number): Promise<object> {
    const budgets: Record<string, { definitionBytes: number }> = {};
    for (const { name } of tools) {
      const isKept = await anthropicTools(withOne(name), { definitionBytes, budgets: {} }).then(
        () => true,
        (error: unknown) => String(error).includes("read_result"),
      );
      if (!isKept) budgets[name] = { definitionBytes: 100_000 };
    }
    return { definitionBytes, budgets };
  }
});
