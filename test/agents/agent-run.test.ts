import { AgentRun, type RunKernel, type RunOptions, type RunPart } from "@keyhole/agents/agent-run";
import type { AiSdkTool } from "@keyhole/agents/ai-sdk";
import { type AuditEvent, type CallOptions, createKernel, defineTool } from "@keyhole/kernel";
import { expect, it } from "vitest";
import { granting, openPolicy } from "../support/kernel.ts";

/** More than any budget of this file. */
const most = 10_000;

/** A model that makes one call, and then writes until it is stopped. */
async function* stream(tools: Record<string, AiSdkTool>, abortSignal: AbortSignal) {
  for await (const output of tools["say"]?.execute({}, { toolCallId: "1", messages: [], abortSignal }) ?? [])
    yield { type: "tool-result", toolCallId: "1", toolName: "say", output };
  for (let i = 0; i < most && !abortSignal.aborted; i++) yield { type: "text-delta", text: "0123456789abcdef" };
}

it("ends an answer without end at its budget of tokens, also where the same step used up the calls", async () => {
  const kernel = await createKernel({ policy: openPolicy });
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
const refusal = {
  code: "UNSUPPORTED_HOST",
  message: "",
  details: null,
  retryable: false,
  hint: "",
  operatorHint: "",
};

/** Of a host that counts fuel, for all tools but one. */
function countingKernel(): RunKernel {
  const tools = ["one", "two", "other"].map((name) => ({ name, version: "1.0.0", description: "Works.", input: {} }));
  const isUncounted = (tool: string, fuel: number): boolean => tool === "other" && fuel < Infinity;
  return {
    list: () => tools.map((tool) => ({ manifest: { ...tool, capabilities: [], output: { kind: "json" } } })),
    async preview(tool: string, _: unknown, { bounds }: CallOptions = {}) {
      return isUncounted(tool, bounds?.fuel ?? Infinity) ? { decision: "deny", error: refusal } : { decision: "allow" };
    },
    async call(tool: string, _: unknown, { bounds: { fuel = Infinity } = {} }: CallOptions = {}) {
      if (isUncounted(tool, fuel)) return { ok: false, error: refusal, callId: "" };
      await Promise.resolve();
      const meta = tool === "other" ? {} : { fuelUsed: Math.min(fuel, need) };
      return fuel < need
        ? { ok: false, error: { ...refusal, code: "OUT_OF_FUEL" }, callId: "", meta }
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

/** A model that makes these calls in one step. */
function asks(names: readonly string[]): RunOptions<never>["ask"] {
  async function* stream(tools: Record<string, AiSdkTool>, abortSignal: AbortSignal) {
    for (const [i, name] of names.entries())
      for await (const output of tools[name]!.execute({}, { toolCallId: String(i), messages: [], abortSignal }))
        yield { type: "tool-result", toolCallId: String(i), toolName: name, output };
    yield { type: "finish-step", usage: {} };
  }
  return ({ tools, abortSignal }) => ({ stream: stream(tools, abortSignal), responseMessages: Promise.resolve([]) });
}

it.each([
  ["one after the other", false, 3],
  ["at once", true, 0],
])("counts the calls of a program, made %s", async (_, isAtOnce, most) => {
  let runs = 0;
  const kernel = await createKernel({ policy: granting({ kind: "tool.call", tools: ["*"] }) });
  const named = {
    version: "1.0.0",
    description: "Works.",
    input: { type: "object" },
    determinism: "external",
  } as const;
  const execute = () => ({ runs: ++runs });
  kernel.registerTrusted(defineTool({ ...named, name: "step", output: { kind: "json" }, execute }));
  kernel.registerTrusted(
    defineTool({
      ...named,
      name: "program",
      capabilities: [{ kind: "tool.call", tools: ["*"] }],
      output: { kind: "json" },
      async execute(__, { tools }) {
        const calls = Array.from({ length: 10 }, () => () => tools.call("step", {}));
        if (isAtOnce) await Promise.all(calls.map((call) => call()));
        else for (const call of calls) await call();
        return null;
      },
    }),
  );
  const run = new AgentRun<never>({ kernel, budget: { calls: 4 }, ask: asks(["program", "step"]) });
  const codes: unknown[] = [];
  for await (const part of run.send("go" as never))
    if (part.type === "answer") codes.push(part.answer.ok || part.answer.error.code);
  expect(codes).toEqual(["BOUNDS_EXCEEDED", "BOUNDS_EXCEEDED"]);
  expect(run.spent.calls).toBe(4);
  expect(runs).toBe(most);
  await kernel.close();
});

it("counts the fuel of the calls within a program, and ends the program with its last", async () => {
  const within = [1, 2, 3].flatMap((i) => [
    { callId: `${i}`, type: "call.invoked", payload: { tool: "step@1.0.0", parentCallId: "0" } },
    { callId: `${i}`, type: "tool.completed", payload: { fuelUsed: 40 } },
  ]);
  const manifest = { name: "program", version: "1.0.0", description: "Works.", input: {}, output: { kind: "json" } };
  const kernel = {
    list: () => [{ manifest: { ...manifest, capabilities: [{ kind: "tool.call" }] } }],
    preview: async () => ({ decision: "allow" }),
    async call(_: string, __: unknown, { onEvent, signal }: CallOptions = {}) {
      for (const event of within) if (signal?.aborted !== true) onEvent?.(event as AuditEvent);
      return { ok: false, error: refusal, callId: "0", meta: { fuelUsed: 7 } };
    },
  } as unknown as RunKernel;
  const run = new AgentRun<never>({ kernel, budget: { fuel: 80 }, ask: asks(["program"]) });
  const parts: RunPart[] = [];
  for await (const part of run.send("go" as never)) parts.push(part);
  expect(parts[0]).toMatchObject({ answer: { ok: false, error: { code: "BOUNDS_EXCEEDED" } } });
  expect(run.spent).toMatchObject({ calls: 3, fuel: 87 });
});

it.each([
  ["one", 100],
  ["other", 0],
])(
  "charges the rest for a call of %s within a program, where its host counts and it ends without a count",
  async (tool, fuel) => {
    const counting = countingKernel();
    const within = [
      { callId: "1", type: "call.invoked", payload: { tool: `${tool}@1.0.0`, parentCallId: "0" } },
      { callId: "1", type: "tool.failed", payload: { code: "TIMEOUT", errorHash: "", effects: [] } },
    ];
    const manifest = { name: "program", version: "1.0.0", description: "Works.", input: {}, output: { kind: "json" } };
    const kernel = {
      list: () => [{ manifest: { ...manifest, capabilities: [{ kind: "tool.call" }] } }],
      preview: (name: string, input: unknown, options: CallOptions) =>
        counting.preview(name === "program" ? "other" : name, input, options),
      async call(_: string, __: unknown, { bounds, onEvent }: CallOptions = {}) {
        expect(bounds).toBeUndefined();
        for (const event of within) onEvent?.(event as AuditEvent);
        return { ok: false, error: refusal, callId: "0", meta: { attempts: 1 } };
      },
    } as unknown as RunKernel;
    const run = new AgentRun<never>({ kernel, budget: { fuel: 100 }, ask: asks(["program"]) });
    for await (const part of run.send("go" as never)) expect(part).toBeDefined();
    expect(run.spent.fuel).toBe(fuel);
  },
);

it.each([
  ["without a count", { ok: false, error: refusal, callId: "1", meta: { attempts: 1 } }, 100],
  ["before it ran", { ok: false, error: refusal, callId: "1", meta: { attempts: 0 } }, 0],
  ["in a failure of its kernel", undefined, 100],
])("charges a call that ends %s", async (_, result, fuel) => {
  const call = async () => result ?? Promise.reject(new Error("It is gone."));
  const kernel = { ...countingKernel(), call } as unknown as RunKernel;
  const run = new AgentRun<never>({ kernel, budget: { fuel: 100 }, ask: asks(["one"]) });
  for await (const part of run.send("go" as never)) expect(part).toBeDefined();
  expect(run.spent.fuel).toBe(fuel);
});

/** 480 characters, 30 tokens. */
const question = { role: "user", content: [{ type: "text", text: "0123456789abcdef".repeat(30) }] };

it.each([
  ["its budget", "tokens", 100],
  ["a stop", "stopped", 34],
  ["a failure of the provider", "failed", 34],
  ["the end of an answer without a report", "answered", 34],
  ["a report of nothing", "answered", 34],
  ["a report", "answered", 7],
])("charges each turn that ends by %s, until the budget is used up", async (how, end, tokens) => {
  let requests = 0;
  async function* answers(abortSignal: AbortSignal) {
    requests++;
    for (let i = 0; !abortSignal.aborted && (end === "tokens" || i < 4); i++)
      yield { type: "text-delta", text: "0123456789abcdef" };
    if (end === "stopped") run.stop();
    if (end === "failed") yield { type: "error", error: new Error("It is gone.") };
    if (how.startsWith("a report")) yield { type: "finish-step", usage: { totalTokens: how === "a report" ? 7 : 0 } };
  }
  const run: AgentRun<typeof question> = new AgentRun<typeof question>({
    kernel: countingKernel(),
    budget: { tokens: 100 },
    ask: ({ abortSignal }) => ({ stream: answers(abortSignal), responseMessages: Promise.resolve([]) }),
  });
  const ends: unknown[] = [];
  const spent: number[] = [];
  while (spent.length < 20) {
    for await (const part of run.send(question)) if (part.type === "end") ends.push(part.end);
    spent.push(run.spent.tokens);
  }
  expect([ends[0], ends.at(-1)]).toEqual([end, "tokens"]);
  expect(Math.abs(spent[0]! - tokens)).toBeLessThanOrEqual(1);
  expect(requests).toBeLessThanOrEqual(Math.ceil(100 / tokens));
});

it("charges the step that is cut, not those that the provider reported, and no bytes of a file", async () => {
  const file = { role: "user", content: [{ type: "file", data: "0".repeat(100_000) }] };
  const run = new AgentRun<unknown>({
    kernel: countingKernel(),
    ask({ prepareStep }) {
      async function* stream() {
        prepareStep({ responseMessages: [] });
        yield { type: "text-delta", text: "word" };
        yield { type: "finish-step", usage: { totalTokens: 50 } };
        prepareStep({ responseMessages: [question] });
        throw new Error("It is gone.");
      }
      return { stream: stream(), responseMessages: Promise.resolve([]) };
    },
  });
  for await (const part of run.send(file)) expect(part).toBeDefined();
  expect(run.spent.tokens).toBe(80);
});

it("ends the turn with the reason where the kernel does not answer", async () => {
  const kernel = { ...countingKernel(), preview: () => Promise.reject(new Error("It is gone.")) };
  const run = new AgentRun<never>({ kernel, budget: { fuel: 100 }, ask: asks(["one"]) });
  const parts: RunPart[] = [];
  for await (const part of run.send("go" as never)) parts.push(part);
  expect(parts).toEqual([{ type: "end", end: "failed", reason: "It is gone." }]);
});

it("keeps the budget that it was made with", async () => {
  const budget = { calls: 1 };
  const run = new AgentRun<never>({ kernel: countingKernel(), budget, ask: asks(["one", "two"]) });
  budget.calls = most;
  for await (const part of run.send("go" as never)) expect(part).toBeDefined();
  expect(run.spent.calls).toBe(1);
  expect(() => new AgentRun<never>({ kernel: countingKernel(), budget: null as never, ask: asks([]) })).toThrow(
    "not a plain object",
  );
});
