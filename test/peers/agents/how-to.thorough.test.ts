import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import { anthropicTools } from "@keyhole/agents/anthropic";
import { openAiTools } from "@keyhole/agents/openai";
import { HumanMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { assistantMessage, functionCall, ScriptedModel } from "@openai/agents/testing";
import { MockLanguageModelV4 } from "ai/test";
import OpenAI from "openai";
import { afterAll, describe, expect, it, vi } from "vitest";
import { frameworkPages, frameworks } from "../../support/reference/framework-pages.ts";
import { type ModelServer, startModelServer, type Turn } from "./model-server.ts";
import { openWorld } from "./world.ts";

const folder = join(import.meta.dirname, "programs");
const servers: ModelServer[] = [];

afterAll(() => {
  for (const server of servers) server.close();
  vi.unstubAllGlobals();
});

async function started(...turns: readonly Turn[]): Promise<ModelServer> {
  const server = await startModelServer(turns);
  servers.push(server);
  return server;
}

type Answer = (...given: readonly unknown[]) => Promise<string>;
const load = async (name: string): Promise<Answer> =>
  ((await import(join(folder, `${name}.ts`))) as { readonly answer: Answer }).answer;

const call = { id: "1", name: "word_count", arguments: '{"text":"one two"}' };
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** Runs the program of a page with a model that calls its tool once. Gives what the program says, and what the model was told. */
const programs: Readonly<Record<string, () => Promise<readonly [string, unknown]>>> = {
  async "ai-sdk"() {
    const content = [{ type: "tool-call" as const, toolCallId: "1", toolName: call.name, input: call.arguments }];
    const model = new MockLanguageModelV4({
      doGenerate: [
        { content, finishReason: { unified: "tool-calls", raw: undefined }, usage, warnings: [] },
        {
          content: [{ type: "text", text: "done" }],
          finishReason: { unified: "stop", raw: undefined },
          usage,
          warnings: [],
        },
      ],
    });
    return [await (await load("ai-sdk"))(model, "go"), model.doGenerateCalls.at(-1)?.prompt];
  },
  async anthropic() {
    const { url, bodies } = await started([call], "done");
    const client = new Anthropic({ apiKey: "none", baseURL: url, maxRetries: 0 });
    return [await (await load("anthropic"))(client, "m", "go"), bodies.at(-1)];
  },
  async langchain() {
    const model = fakeModel()
      .respondWithTools([{ name: call.name, args: { text: "one two" }, id: "1" }])
      .respond(new HumanMessage("done"));
    return [await (await load("langchain"))(model, "go"), model.calls.at(-1)?.messages];
  },
  async openai() {
    const { url, bodies } = await started([call], "done");
    const client = new OpenAI({ apiKey: "none", baseURL: url, maxRetries: 0 });
    return [await (await load("openai"))(client, "m", "go"), bodies.at(-1)];
  },
  async "openai-agents"() {
    const model = new ScriptedModel([
      [functionCall(call.name, { text: "one two" }, { callId: "1" })],
      [assistantMessage("done")],
    ]);
    return [await (await load("openai-agents"))(model, "go"), model.calls.at(-1)?.request.input];
  },
  async "prompt-api"() {
    let told: unknown;
    const create = async ({ tools }: { tools: { name: string; execute(input: unknown): Promise<string> }[] }) => ({
      async prompt() {
        told = await tools.find(({ name }) => name === call.name)?.execute({ text: "one two" });
        return "done";
      },
    });
    vi.stubGlobal("LanguageModel", { create });
    return [await (await load("prompt-api"))("go"), told];
  },
  async webmcp() {
    const registered: { name: string; execute(input: unknown): Promise<unknown> }[] = [];
    vi.stubGlobal("document", {
      modelContext: { registerTool: (tool: (typeof registered)[0]) => registered.push(tool) },
    });
    vi.stubGlobal("addEventListener", () => {});
    await import(join(folder, "webmcp.ts"));
    const told = await registered.find(({ name }) => name === call.name)?.execute({ text: "one two" });
    return ["done", told];
  },
};

describe("the page of each framework", () => {
  it("has a program here, and fewer than 60 lines", () => {
    expect(Object.keys(frameworks).toSorted()).toEqual(Object.keys(programs).toSorted());
    for (const [path, text] of frameworkPages()) expect(text.split("\n").length, path).toBeLessThan(60);
  });

  it.each(Object.entries(programs))("runs: %s", async (_, run) => {
    const [said, told] = await run();
    expect(said).toBe("done");
    expect(JSON.stringify(told)).toMatch(/words\W+2\b/);
  });
});

const calls = [
  { id: "1", name: "add", arguments: '{"a":1,"b":2}' },
  { id: "2", name: "add", arguments: '{"a":"one"}' },
  { id: "3", name: "save_note", arguments: "{}" },
];

/** What the model was told of the three calls, in their order. */
function toldOf({ bodies }: ModelServer): string {
  return JSON.stringify(bodies.at(-1)?.messages).replaceAll('\\"', '"');
}

describe("models that stream their answers", () => {
  it("get the results of parallel calls in OpenAI's format, and an error for arguments that are no JSON", async () => {
    const { kernel } = await openWorld("deny");
    const server = await started([...calls, { id: "4", name: "add", arguments: '{"a":1,' }], "done");
    const client = new OpenAI({ apiKey: "none", baseURL: server.url, maxRetries: 0 });
    const tools = await openAiTools(kernel, { caller: "agent" });
    const messages = [{ role: "user" as const, content: "go" }];
    const runner = client.chat.completions.runTools({ model: "m", messages, stream: true, tools: tools as never });
    expect(await runner.finalContent()).toBe("done");
    expect(toldOf(server)).toMatch(/"sum":3.*"INVALID_INPUT".*"APPROVAL_DENIED".*"INVALID_INPUT"/);
  });

  it("get the results of parallel calls in Anthropic's format", async () => {
    const { kernel } = await openWorld("deny");
    const server = await started(calls, "done");
    const client = new Anthropic({ apiKey: "none", baseURL: server.url, maxRetries: 0 });
    const tools = await anthropicTools(kernel, { caller: "agent" });
    const messages = [{ role: "user" as const, content: "go" }];
    const runner = client.beta.messages.toolRunner({
      model: "m",
      max_tokens: 9,
      messages,
      stream: true,
      tools: tools as never,
    });
    const said: string[] = [];
    for await (const message of runner) {
      const { content } = await message.finalMessage();
      said.push(...content.map((block) => (block.type === "text" ? block.text : block.type)));
    }
    expect(said).toEqual(["tool_use", "tool_use", "tool_use", "done"]);
    expect(toldOf(server)).toMatch(/"sum":3.*"INVALID_INPUT".*"APPROVAL_DENIED"/);
  });
});
