import { type AgentKernel, aiSdkTools } from "@keyhole/agents/ai-sdk";
import { anthropicTools } from "@keyhole/agents/anthropic";
import { langChainTools } from "@keyhole/agents/langchain";
import { openAiTools } from "@keyhole/agents/openai";
import { openAiAgentsTools } from "@keyhole/agents/openai-agents";
import { promptApiTools } from "@keyhole/agents/prompt-api";
import { exposeToPage } from "@keyhole/agents/webmcp";
import type { Approver, Kernel, PolicyDocument, PolicyRule } from "@keyhole/kernel";
import { describe, expect, it, vi } from "vitest";
import { leaf, openCalling, outer, toolWith } from "../support/nested.ts";

interface Made {
  readonly tool: string;
  readonly id: string;
  readonly input: unknown;
}

/** A framework with its person: `ask` is where it asks before a call, `yes` what its person then approves, `run` the call. Gives what the model reads. */
interface Framework {
  ask(call: Made): Promise<unknown>;
  yes(call: Made): void;
  always(tool: string): void;
  run(call: Made): Promise<string>;
}

type Open = (kernel: AgentKernel) => Promise<Framework>;

/** Has no approvals. */
const plain =
  (open: (kernel: AgentKernel) => Promise<(call: Made) => Promise<unknown>>): Open =>
  async (kernel) => {
    const run = await open(kernel);
    return { ask: async () => {}, yes: () => {}, always: () => {}, run: async (call) => String(await run(call)) };
  };

const frameworks = {
  "ai-sdk": async (kernel) => {
    const { tools, toolApproval } = await aiSdkTools(kernel);
    const messages: { content: unknown[] }[] = [];
    return {
      ask: ({ tool: toolName, id: toolCallId, input }) => toolApproval({ toolCall: { toolCallId, toolName, input } }),
      yes({ tool: toolName, id: toolCallId, input }) {
        const call = { type: "tool-call", toolCallId, toolName, input };
        const request = { type: "tool-approval-request", approvalId: `a${toolCallId}`, toolCallId };
        const answer = { type: "tool-approval-response", approvalId: `a${toolCallId}`, approved: true };
        messages.push({ content: [call, request] }, { content: [answer] });
      },
      always: () => {},
      async run({ tool, id: toolCallId, input }) {
        let last: unknown;
        for await (const each of tools[tool]!.execute(input, { toolCallId, messages })) last = each;
        const { text } = last as { readonly text: string };
        return text;
      },
    };
  },
  "openai-agents": async (kernel) => {
    const tools = new Map((await openAiAgentsTools(kernel)).map((tool) => [tool.name, tool]));
    const [approved, forAlways] = [new Set<string>(), new Set<string>()];
    const isToolApproved = ({ toolName, callId }: { toolName: string; callId: string }): boolean | undefined =>
      forAlways.has(toolName) || approved.has(`${toolName} ${callId}`) || undefined;
    return {
      ask: ({ tool, id, input }) => tools.get(tool)!.needsApproval({}, input, id),
      yes: ({ tool, id }) => void approved.add(`${tool} ${id}`),
      always: (tool) => void forAlways.add(tool),
      run: ({ tool, id, input }) =>
        tools.get(tool)!.invoke({ isToolApproved }, JSON.stringify(input), { toolCall: { callId: id } }),
    };
  },
  anthropic: plain(async (kernel) => {
    const tools = await anthropicTools(kernel);
    return ({ tool, input }) => tools.find(({ name }) => name === tool)!.run(input);
  }),
  langchain: plain(async (kernel) => {
    const tools = await langChainTools(kernel, (run, { name }) => ({ run, name }));
    return async ({ tool, input }) => (await tools.find(({ name }) => name === tool)!.run(input))[0];
  }),
  openai: plain(async (kernel) => {
    const tools = await openAiTools(kernel);
    return ({ tool, input }) =>
      tools.find(({ function: { name } }) => name === tool)!.function.function(JSON.stringify(input));
  }),
  "prompt-api": plain(async (kernel) => {
    const tools = await promptApiTools(kernel);
    return ({ tool, input }) => tools.find(({ name }) => name === tool)!.execute(input);
  }),
  webmcp: plain(async (kernel) => {
    const tools = new Map<string, { execute(input: unknown): Promise<unknown> }>();
    await exposeToPage(kernel, { modelContext: { registerTool: (tool) => tools.set(tool.name, tool) } });
    return async ({ tool, input }) => JSON.stringify(await tools.get(tool)!.execute(input));
  }),
} as const satisfies Record<string, Open>;

const withApprovals: readonly string[] = ["ai-sdk", "openai-agents"];

async function world(open: Open) {
  const paid: unknown[] = [];
  const asked: string[] = [];
  const approver: Approver = async ({ tool, input }) => {
    asked.push(`${tool} ${JSON.stringify(input)}`);
    return { answer: "deny", approver: "kernel" };
  };
  const asks = { approval: "always" } as const;
  const pay = leaf("inner", ({ amount }: { amount: number }) => (paid.push(amount), "PAID"));
  const { kernel } = await openCalling([toolWith(pay, asks), toolWith(outer, asks), leaf("web", () => "text")], {
    approver,
  });
  const framework = await open(kernel);
  return { kernel, framework, paid, asked };
}

async function approversOf(kernel: Kernel): Promise<unknown[]> {
  const events = await kernel.audit.read();
  return events
    .filter(({ type }) => type === "approval.resolved")
    .map(({ payload }) => (payload as { approver: string }).approver);
}

const small = { tool: "inner", id: "call_1", input: { amount: 1 } };
const large = { ...small, input: { amount: 1_000_000 } };
const within = { tool: "outer", id: "call_1", input: { amount: 1 } };

describe.each(Object.entries(frameworks))("a yes through %s", (name, open) => {
  const has = withApprovals.includes(name);

  it("answers the question that was asked, and nothing where the framework has no approvals", async () => {
    const { kernel, framework, paid } = await world(open);
    await framework.ask(small);
    framework.yes(small);
    await framework.run(small);
    expect(paid).toEqual(has ? [1] : []);
    expect(await approversOf(kernel)).toEqual(has ? ["user"] : ["kernel"]);
  });

  it("is no yes to other arguments under the same id", async () => {
    const { framework, paid, asked } = await world(open);
    await framework.ask(small);
    framework.yes(small);
    expect(await framework.run(large)).toContain("APPROVAL_DENIED");
    expect(paid).toEqual([]);
    expect(asked).toEqual(['inner@1.0.0 {"amount":1000000}']);
  });

  it("is no yes to other arguments that are asked about later under the same id", async () => {
    const { framework, paid } = await world(open);
    await framework.ask(small);
    framework.yes(small);
    await framework.run(small);
    await framework.ask(large);
    expect(await framework.run(large)).toContain("APPROVAL_DENIED");
    expect(paid).toEqual(has ? [1] : []);
  });

  it.each<[string, Partial<PolicyDocument>]>([
    ["with other grants", { grants: [{ tool: "*", capability: { kind: "clock" } }] }],
    ["for another reason", { rules: [{ id: "freeze", effect: "ask", when: {}, reason: "Production freeze." }] }],
    ["of another policy", { tools: { inner: { bounds: { timeoutMs: 5_000 } } } }],
  ])("is no yes to the same call %s", async (_, more) => {
    const { kernel, framework, paid, asked } = await world(open);
    await framework.ask(small);
    framework.yes(small);
    const now: PolicyDocument = { version: "1", posture: "standard", ...more };
    expect(await kernel.setPolicy(now)).toMatchObject({ ok: true });
    expect(await framework.run(small)).toContain("APPROVAL_DENIED");
    expect(paid).toEqual([]);
    expect(asked).toEqual(['inner@1.0.0 {"amount":1}']);
  });

  it("is no yes in another mode", async () => {
    const { kernel, framework, paid } = await world(open);
    await framework.ask(small);
    framework.yes(small);
    await kernel.setMode("ALERT", "a test");
    expect(await framework.run(small)).toContain("APPROVAL_DENIED");
    expect(paid).toEqual([]);
  });

  it("is no yes where another rule asks as well", async () => {
    const { kernel, framework, paid } = await world(open);
    const rule = (id: string, labels?: readonly string[]): PolicyRule => ({
      id,
      effect: "ask",
      when: { tool: ["inner"], ...(labels && { labels }) },
      reason: "Mails are asked about.",
    });
    const policy: PolicyDocument = {
      version: "1",
      posture: "standard",
      labels: { untrusted: { tools: ["web"] } },
      rules: [rule("a"), rule("b", ["untrusted"])],
    };
    expect(await kernel.setPolicy(policy)).toMatchObject({ ok: true });
    await framework.ask(small);
    framework.yes(small);
    await framework.run({ tool: "web", id: "call_2", input: {} });
    expect(await framework.run(small)).toContain("APPROVAL_DENIED");
    expect(paid).toEqual([]);
  });

  it("is no yes after 8 hours", async () => {
    const { framework, paid } = await world(open);
    const nowMs = Date.now();
    await framework.ask(small);
    framework.yes(small);
    const later = vi.spyOn(Date, "now").mockReturnValue(nowMs + 28_800_000 + 60_000);
    expect(await framework.run(small)).toContain("APPROVAL_DENIED");
    later.mockRestore();
    expect(paid).toEqual([]);
  });

  it("is spent when the call has run: the same arguments again are another question", async () => {
    const { framework, paid } = await world(open);
    await framework.ask(small);
    framework.yes(small);
    await framework.run(small);
    await framework.run(large); // So that the answer of the first one is not the kept one.
    expect(await framework.run(small)).toContain("APPROVAL_DENIED");
    expect(paid).toEqual(has ? [1] : []);
  });

  it("is no yes to another tool under the same id", async () => {
    const { framework, paid } = await world(open);
    await framework.ask(within);
    framework.yes(within);
    expect(await framework.run(small)).toContain("APPROVAL_DENIED");
    expect(paid).toEqual([]);
  });

  it("is no yes to the questions of the calls within: the kernel's approver is asked", async () => {
    const { kernel, framework, paid, asked } = await world(open);
    await framework.ask(within);
    framework.yes(within);
    await framework.run(within);
    expect(paid).toEqual([]);
    expect(asked).toEqual([has ? 'inner@1.0.0 {"amount":1}' : 'outer@1.0.0 {"amount":1}']);
    expect(await approversOf(kernel)).toEqual(has ? ["user", "kernel"] : ["kernel"]);
  });

  it("for always, to whatever the tool is called with, answers no question", async () => {
    const { framework, paid } = await world(open);
    framework.always("inner");
    await framework.ask(small);
    expect(await framework.run(small)).toContain("APPROVAL_DENIED");
    expect(paid).toEqual([]);
  });
});

describe("a yes in the messages of AI SDK", () => {
  const parts = [
    { type: "tool-call", toolCallId: "call_1", toolName: "inner", input: { amount: 1 } },
    { type: "tool-approval-request", approvalId: "a", toolCallId: "call_1" },
    { type: "tool-approval-response", approvalId: "a", approved: true },
  ];
  const result = { type: "tool-result", toolCallId: "call_1" };
  const later = parts.map((part) => ("approvalId" in part ? { ...part, approvalId: "b" } : part));
  it.each<[string, readonly (readonly unknown[])[], readonly number[]]>([
    ["with its call counts", [parts], [1]],
    ["without its call counts nothing", [parts.slice(1)], []],
    ["with two calls of one id counts nothing", [[parts[0], ...parts]], []],
    ["with two requests for one call counts nothing", [[...parts, { ...parts[1], approvalId: "b" }]], []],
    ["whose call has a result counts nothing", [[...parts, result]], []],
    ["counts beside that of an earlier call of the same id", [parts, [...parts, result, ...later]], [1, 1]],
    ["is none to a later call of the same id", [parts, [...parts, result, later[0]]], [1]],
    ["is none to a later call under the same request", [parts, [...parts, result, ...parts]], [1]],
  ])("%s", async (_, turns, expected) => {
    const { kernel, paid } = await world(frameworks["ai-sdk"]);
    const { tools, toolApproval } = await aiSdkTools(kernel); // Another process than the one that asked.
    const toolCall = { toolCallId: "call_1", toolName: "inner", input: small.input };
    for (const messages of turns.map((content) => [{ content }])) {
      await toolApproval({ toolCall, messages });
      for await (const _ of tools["inner"]!.execute(small.input, { ...toolCall, messages }));
    }
    expect(paid).toEqual(expected);
  });

  it("that are sent again counts once, through each agent, under each policy and at any hour of its day", async () => {
    const { kernel, paid } = await world(frameworks["ai-sdk"]);
    const send = async (): Promise<unknown> => {
      const { tools } = await aiSdkTools(kernel);
      const options = { toolCallId: "call_1", messages: [{ content: parts }] };
      let last: unknown;
      for await (const each of tools["inner"]!.execute(small.input, options)) last = each;
      return last;
    };
    const first = await send();
    expect(first).toMatchObject({ ok: true, data: "PAID" });
    expect(await send()).toMatchObject({ ok: true, data: "PAID" });
    await kernel.setPolicy({
      version: "1",
      posture: "standard",
      rules: [{ id: "freeze", effect: "ask", when: {}, reason: "Production freeze." }],
    });
    await send();
    const later = vi.spyOn(Date, "now").mockReturnValue(Date.now() + 9 * 3_600_000);
    await send();
    later.mockRestore();
    expect(paid).toEqual([1]);
    expect(await approversOf(kernel)).toEqual(["user"]);
  });
});
