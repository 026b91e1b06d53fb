import { AgentRun, type RunPart } from "@keyhole/agents/agent-run";
import type { AiSdkTool } from "@keyhole/agents/ai-sdk";
import { createFullKernel, defineTool } from "@keyhole/kernel";
import { expect, it } from "vitest";
import { openPolicy } from "../support/kernel.ts";

/** More than any budget of this file. */
const most = 10_000;

/** A model that makes one call, and then writes until it is stopped. */
async function* stream(tools: Record<string, AiSdkTool>, abortSignal: AbortSignal) {
  for await (const output of tools["say"]?.execute({}, { toolCallId: "1", messages: [], abortSignal }) ?? [])
    yield { type: "tool-result", toolCallId: "1", toolName: "say", output };
  for (let i = 0; i < most && !abortSignal.aborted; i++) yield { type: "text-delta", text: "0123456789abcdef" };
}

it("ends an answer without end at its budget of tokens, also where the same step used up the calls", async () => {
  const kernel = await createFullKernel({ policy: openPolicy });
  const say = { name: "say", version: "1.0.0", description: "Says nothing.", input: { type: "object" } } as const;
  kernel.registerTrusted(defineTool({ ...say, output: { kind: "json" }, execute: () => null }));
  const run = new AgentRun<never>({
    kernel,
    budget: { calls: 1, tokens: 10 },
    ask: ({ tools, abortSignal }) => ({ stream: stream(tools, abortSignal), responseMessages: Promise.resolve([]) }),
  });
  const parts: RunPart[] = [];
  for await (const part of run.send("go" as never)) parts.push(part);
  expect(run.spent.calls).toBe(1);
  expect(parts.filter(({ type }) => type === "text").length).toBe(10);
  await kernel.close();
});
