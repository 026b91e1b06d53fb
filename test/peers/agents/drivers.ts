import Anthropic from "@anthropic-ai/sdk";
import { type AgentKernel, aiSdkTools } from "@keyhole/agents/ai-sdk";
import { anthropicTools } from "@keyhole/agents/anthropic";
import { langChainTools } from "@keyhole/agents/langchain";
import { openAiTools } from "@keyhole/agents/openai";
import { openAiAgentsTools } from "@keyhole/agents/openai-agents";
import type { Progress } from "@keyhole/kernel";
import { HumanMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { tool } from "@langchain/core/tools";
import { Agent, run } from "@openai/agents";
import { assistantMessage, functionCall, ScriptedModel } from "@openai/agents/testing";
import { generateText, isStepCount, type ModelMessage } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { createAgent } from "langchain";
import OpenAI from "openai";

/** What the model asks for in its first turn. */
export interface Ask {
  readonly tool: string;
  readonly input: unknown;
  /** What the person of the framework says, where it asks one. */
  readonly answer?: "yes" | "no";
  readonly signal?: AbortSignal;
  readonly onProgress?: (tool: string, progress: Progress) => void;
}

/** Runs the framework's own loop: a model calls one tool, and answers once it has the result. Gives what the model was told. */
export type Driver = (kernel: AgentKernel, ask: Ask) => Promise<string>;

export interface Framework {
  readonly drive: Driver;
  /** Whether the framework asks a person by itself. */
  readonly asks: boolean;
  /** Whether the framework checks the input by itself, and tells the model in words of its own. */
  readonly checks: boolean;
}

const optionsOf = ({ onProgress }: Ask) => ({ caller: "agent", approver: "ann", ...(onProgress && { onProgress }) });

const callId = "call_1";
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

const aiSdk: Driver = async (kernel, ask) => {
  const { tool: toolName, input, answer, signal } = ask;
  const given = await aiSdkTools(kernel, optionsOf(ask));
  const called = [{ type: "tool-call" as const, toolCallId: callId, toolName, input: JSON.stringify(input) }];
  const model = new MockLanguageModelV4({
    doGenerate: [
      { content: called, finishReason: { unified: "tool-calls", raw: undefined }, usage, warnings: [] },
      {
        content: [{ type: "text", text: "done" }],
        finishReason: { unified: "stop", raw: undefined },
        usage,
        warnings: [],
      },
    ],
  });
  const options = { model, stopWhen: isStepCount(3), maxRetries: 0, ...given, ...(signal && { abortSignal: signal }) };
  const first = await generateText({ ...options, prompt: "go" });
  const request = first.content.find((part) => part.type === "tool-approval-request");
  if (request && answer) {
    const messages: ModelMessage[] = [
      { role: "user", content: "go" },
      ...first.finalStep.response.messages,
      {
        role: "tool",
        content: [
          {
            type: "tool-approval-response",
            approvalId: request.approvalId,
            approved: answer === "yes",
            reason: "Not today.",
          },
        ],
      },
    ];
    await generateText({ ...options, messages });
  }
  const prompt = model.doGenerateCalls.at(-1)?.prompt ?? [];
  const results = prompt.flatMap(({ role, content }) => (role === "tool" ? content : []));
  return JSON.stringify(results.map((part) => ("output" in part ? part.output : part)));
};

const openAiAgents: Driver = async (kernel, ask) => {
  const { tool: name, input, answer, signal } = ask;
  const model = new ScriptedModel([
    [functionCall(name, input as Record<string, unknown>, { callId })],
    [assistantMessage("done")],
  ]);
  const tools = await openAiAgentsTools(kernel, optionsOf(ask));
  const agent = new Agent({ name: "clerk", model, tools: tools as never });
  const options = signal ? { signal } : {};
  let result = await run(agent, "go", options);
  for (const item of result.interruptions ?? []) {
    if (answer === "yes") result.state.approve(item);
    else result.state.reject(item);
    result = await run(agent, result.state, options);
  }
  const asked = model.calls.at(-1)?.request.input;
  const outputs = Array.isArray(asked) ? asked.filter((item) => item.type === "function_call_result") : [];
  return JSON.stringify(outputs.map((item) => item.output));
};

/** A server of a model that is not there. */
function scripted(...answers: readonly object[]): { readonly fetch: typeof fetch; readonly bodies: unknown[] } {
  const bodies: unknown[] = [];
  return {
    bodies,
    fetch: async (_, init) => {
      bodies.push(JSON.parse(String(init?.body)));
      return Response.json(answers[bodies.length - 1]);
    },
  };
}

const anthropic: Driver = async (kernel, ask) => {
  const { tool: name, input, signal } = ask;
  const message = (content: object[], stop_reason: string) => ({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content,
    stop_reason,
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  });
  const server = scripted(
    message([{ type: "tool_use", id: callId, name, input }], "tool_use"),
    message([{ type: "text", text: "done" }], "end_turn"),
  );
  const client = new Anthropic({ apiKey: "none", fetch: server.fetch, maxRetries: 0 });
  const tools = await anthropicTools(kernel, optionsOf(ask));
  const messages = [{ role: "user" as const, content: "go" }];
  await client.beta.messages.toolRunner(
    { model: "m", max_tokens: 9, messages, tools: tools as never },
    signal ? { signal } : {},
  );
  const { messages: last } = server.bodies.at(-1) as { messages: { content: unknown }[] };
  return JSON.stringify(last.at(-1)?.content);
};

const openAi: Driver = async (kernel, ask) => {
  const { tool: name, input, signal } = ask;
  const completion = (message: object, finish_reason: string) => ({
    id: "c",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content: null, ...message }, finish_reason }],
  });
  const tool_calls = [{ id: callId, type: "function", function: { name, arguments: JSON.stringify(input) } }];
  const server = scripted(completion({ tool_calls }, "tool_calls"), completion({ content: "done" }, "stop"));
  const client = new OpenAI({ apiKey: "none", fetch: server.fetch, maxRetries: 0 });
  const tools = await openAiTools(kernel, { ...optionsOf(ask), ...(signal && { signal }) });
  const runner = client.chat.completions.runTools({
    model: "m",
    messages: [{ role: "user", content: "go" }],
    tools: tools as never,
  });
  await runner.done();
  const { messages } = server.bodies.at(-1) as { messages: { content: unknown }[] };
  return JSON.stringify(messages.at(-1)?.content);
};

const langChain: Driver = async (kernel, ask) => {
  const { tool: name, input, signal } = ask;
  const model = fakeModel()
    .respondWithTools([{ name, args: input as Record<string, unknown>, id: callId }])
    .respond(new HumanMessage("done"));
  const agent = createAgent({
    model,
    tools: (await langChainTools(kernel, tool as never, optionsOf(ask))) as never,
  });
  await agent.invoke({ messages: [new HumanMessage("go")] }, signal ? { signal } : {});
  const messages = model.calls.at(-1)?.messages ?? [];
  return JSON.stringify(messages.at(-1)?.content);
};

export const frameworks = {
  "AI SDK": { drive: aiSdk, asks: true, checks: false },
  "OpenAI Agents": { drive: openAiAgents, asks: true, checks: false },
  Anthropic: { drive: anthropic, asks: false, checks: false },
  OpenAI: { drive: openAi, asks: false, checks: false },
  LangChain: { drive: langChain, asks: false, checks: true },
} as const satisfies Record<string, Framework>;
