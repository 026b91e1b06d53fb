import { AgentRun, type RunPart } from "@keyhole/agents/agent-run";
import type { AiSdkTool } from "@keyhole/agents/ai-sdk";
import { verifyChain } from "@keyhole/kernel";
import { expect, it } from "vitest";
import type { KernelClient } from "../../packages/worker-host/src/browser/kernel-client.ts";

const calls: readonly (readonly [id: string, tool: string, input: object])[] = [
  ["1", "say", { message: "hi" }],
  ["2", "say", { message: 1 }],
  ["3", "never", {}],
  ["4", "say", { message: "over the budget" }],
];

/** A framework whose model makes the {@link calls} in one step. The framework's own loop runs in test/peers/agents. */
async function* stream(tools: Record<string, AiSdkTool>, abortSignal: AbortSignal) {
  for (const [toolCallId, toolName, input] of calls) {
    yield { type: "tool-call", toolCallId, toolName, input };
    for await (const output of tools[toolName]?.execute(input, { toolCallId, messages: [], abortSignal }) ?? [])
      yield { type: "tool-result", toolCallId, toolName, output };
  }
  yield { type: "finish-step", usage: { totalTokens: 5 } };
}

/** What a client of a kernel does for an agent, wherever the kernel is. */
export function agentRunContract(open: () => Promise<KernelClient>): void {
  it("carries an agent's run: one session, one trace and one chain, under one budget", async () => {
    const kernel = await open();
    const before = (await kernel.audit.read(0, 1_000)).length;
    const run = new AgentRun<never>({
      kernel,
      budget: { calls: 3, tokens: 100 },
      ask: ({ tools, abortSignal }) => ({ stream: stream(tools, abortSignal), responseMessages: Promise.resolve([]) }),
    });
    const parts: RunPart[] = [];
    for await (const part of run.send("go" as never)) parts.push(part);
    const answers = parts.flatMap((part) => (part.type === "answer" ? [part.answer] : []));
    const ends = answers.map((answer) => (answer.ok ? answer.data : answer.error.code));
    expect(ends[0]).toEqual({ message: "hi", times: 1 });
    expect(ends.slice(1)).toEqual(["INVALID_INPUT", "POLICY_DENIED", "BOUNDS_EXCEEDED"]);
    expect(run.spent).toEqual({ calls: 3, tokens: 5, fuel: 0 });
    const log = await kernel.audit.read(0, 1_000);
    const events = log.slice(before).filter(({ callId }) => callId !== null);
    expect(new Set(events.map(({ sessionId }) => sessionId))).toEqual(new Set([run.sessionId]));
    const traces = new Set(events.map(({ traceparent }) => traceparent?.slice(0, 35)));
    expect(traces).toEqual(new Set([run.traceparent.slice(0, 35)]));
    expect(verifyChain(log)).toMatchObject({ ok: true });
    await kernel.close();
  });
}
