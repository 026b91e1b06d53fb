import { AgentRun, type RunKernel, type RunPart } from "@keyhole/agents/agent-run";
import type { AiSdkTool } from "@keyhole/agents/ai-sdk";
import { type CallOptions, createFullKernel, defineTool } from "@keyhole/kernel";
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

const need = 60;

/** Of a host that counts fuel, for all tools but one. */
function countingKernel(): RunKernel {
  const tools = ["one", "two", "other"].map((name) => ({ name, version: "1.0.0", description: "Works.", input: {} }));
  const isUncounted = (tool: string, fuel: number): boolean => tool === "other" && fuel < Infinity;
  const refused = {
    code: "UNSUPPORTED_HOST",
    message: "",
    details: null,
    retryable: false,
    hint: "",
    operatorHint: "",
  };
  return {
    list: () => tools.map((tool) => ({ manifest: { ...tool, capabilities: [], output: { kind: "json" } } })),
    async preview(tool: string, _: unknown, { bounds }: CallOptions = {}) {
      return isUncounted(tool, bounds?.fuel ?? Infinity) ? { decision: "deny", error: refused } : { decision: "allow" };
    },
    async call(tool: string, _: unknown, { bounds: { fuel = Infinity } = {} }: CallOptions = {}) {
      if (isUncounted(tool, fuel)) return { ok: false, error: refused, callId: "" };
      await Promise.resolve();
      const meta = tool === "other" ? {} : { fuelUsed: Math.min(fuel, need) };
      return fuel < need
        ? { ok: false, error: { ...refused, code: "OUT_OF_FUEL" }, callId: "", meta }
        : { ok: true, data: tool, hash: "", callId: "", meta };
    },
  } as unknown as RunKernel;
}

it("bounds the first call of each tool by the rest of the fuel, also where a framework makes calls at once", async () => {
  const codes: unknown[] = [];
  async function* calls(tools: Record<string, AiSdkTool>, abortSignal: AbortSignal) {
    const ended = ["other", "one", "two"].map(async (name) => {
      for await (const output of tools[name]!.execute({}, { toolCallId: name, messages: [], abortSignal }))
        if (typeof output === "object" && output !== null && "ok" in output) codes.push(output);
    });
    await Promise.all(ended);
    yield { type: "finish-step", usage: {} };
  }
  const run = new AgentRun<never>({
    kernel: countingKernel(),
    budget: { fuel: 100 },
    ask: ({ tools, abortSignal }) => ({ stream: calls(tools, abortSignal), responseMessages: Promise.resolve([]) }),
  });
  for await (const part of run.send("go" as never)) expect(part).not.toMatchObject({ end: "failed" });
  expect(codes).toMatchObject([{ data: "other" }, { data: "one" }, { ok: false, error: { code: "OUT_OF_FUEL" } }]);
  expect(run.spent.fuel).toBe(100);
});
