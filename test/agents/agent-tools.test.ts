import { aiSdkTools } from "@keyhole/agents/ai-sdk";
import { anthropicTools } from "@keyhole/agents/anthropic";
import { langChainTools } from "@keyhole/agents/langchain";
import { openAiTools } from "@keyhole/agents/openai";
import { openAiAgentsTools } from "@keyhole/agents/openai-agents";
import type { CallOptions, Kernel, Tool, ToolSummary } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { openKernel, toolOf } from "../support/kernel.ts";

const limitBytes = 512;

async function kernelWith(...tools: readonly Tool<never, unknown>[]) {
  const { kernel } = await openKernel();
  for (const tool of tools) kernel.registerTrusted(tool);
  return kernel;
}

/** What a model reads of an output. */
async function read(output: unknown, kind: "json" | "text" | "binary"): Promise<string> {
  const kernel = await kernelWith(toolOf(() => output, { output: { kind } }));
  const [tool] = await openAiTools(kernel, { answerBytes: limitBytes });
  return tool!.function.function("{}");
}

describe("the tools of an agent", () => {
  it("are the highest version of each name, and those that are named", async () => {
    const kernel = await kernelWith(
      toolOf(() => 1, { name: "a", version: "1.0.0" }),
      toolOf(() => 2, { name: "a", version: "1.10.0" }),
      toolOf(() => 2, { name: "a", version: "1.9.0" }),
      toolOf(() => 3, { name: "b" }),
    );
    const all = await anthropicTools(kernel);
    expect(all.map(({ name }) => name)).toEqual(["a", "b", "read_result"]);
    expect(await all[0]!.run({})).toBe("2");
    expect((await anthropicTools(kernel, { tools: ["b"] })).map(({ name }) => name)).toEqual(["b", "read_result"]);
  });

  it("are refused under a name that the kernel does not list", async () => {
    await expect(anthropicTools(await kernelWith(), { tools: ["gone"] })).rejects.toThrow('no tool "gone"');
  });

  it("are refused beside a tool of the kernel that has the name of their own reader", async () => {
    const kernel = await kernelWith(
      toolOf(() => "x".repeat(1_000), { name: "a" }),
      toolOf(() => ({ text: "END" }), { name: "read_result" }),
    );
    await expect(anthropicTools(kernel)).rejects.toThrow("leave it out by `tools`");
    const [long, reader] = await anthropicTools(kernel, { tools: ["a"], answerBytes: limitBytes });
    const { hash } = JSON.parse(String(await long!.run({}))) as { readonly hash: string };
    expect(await reader!.run({ hash, offset: 998 })).toContain('"text":"x');
  });

  it("share a session, which is theirs alone", async () => {
    const sessions: unknown[] = [];
    const kernel = await kernelWith(
      toolOf(() => 1, { name: "a" }),
      toolOf(() => 2, { name: "b" }),
    );
    kernel.audit.subscribe(({ type, sessionId }) => type === "call.invoked" && sessions.push(sessionId));
    const [first, second] = [await anthropicTools(kernel), await anthropicTools(kernel)];
    for (const tool of [...first.slice(0, 2), ...second.slice(0, 2)]) await tool.run({});
    expect(sessions).toEqual([sessions[0], sessions[0], sessions[2], sessions[2]]);
    expect(new Set(sessions).size).toBe(2);
  });

  it("have schemas that a framework can write into", async () => {
    const kernel = await kernelWith(toolOf(() => 1));
    const [tool] = await anthropicTools(kernel);
    Object.assign(tool!.input_schema, { $id: "x" });
    expect((await anthropicTools(kernel))[0]!.input_schema).not.toHaveProperty("$id");
  });
});

describe("the text that a model reads", () => {
  it.each([
    ["JSON", { a: 1 }, "json", '{"a":1}'],
    ["text", "é", "text", "é"],
    ["text of the limit", "a".repeat(limitBytes), "text", "a".repeat(limitBytes)],
  ] as const)("is the output: %s", async (_, output, kind, expected) => {
    expect(await read(output, kind)).toBe(expected);
  });

  it("is the beginning of an output that is one byte longer than the limit, with its digest", async () => {
    const text = await read("é".repeat(limitBytes / 2) + "a", "text");
    expect(new TextEncoder().encode(text).length).toBeLessThanOrEqual(limitBytes);
    expect(JSON.parse(text)).toEqual({
      truncated: true,
      byteLength: limitBytes + 1,
      hash: expect.stringMatching(/^blake3:/),
      more: "read_result",
      next: expect.any(Number),
      beginning: expect.stringMatching(/^é{100,}$/),
    });
  });

  it.each([
    [270, true],
    [512, false],
  ])("has %i bytes in base64: %s", async (byteLength, isThere) => {
    const text = JSON.parse(await read(new Uint8Array(byteLength), "binary")) as object;
    expect(text).toMatchObject({ byteLength, mediaType: "application/octet-stream" });
    expect("base64" in text).toBe(isThere);
  });

  it("has an error without the operator's hint", async () => {
    const text = await read({}, "text");
    expect(JSON.parse(text)).toMatchObject({ error: { code: "NOT_NORMALIZABLE", hint: expect.any(String) } });
    expect(text).not.toContain("operatorHint");
  });
});

describe("arguments", () => {
  it.each([
    ['{"message":"x"}', { message: "x" }],
    ["", {}],
    [" ", {}],
    ["\n\t", {}],
    ["{", "{"],
    ['{"id":9007199254740993}', '{"id":9007199254740993}'],
    ['{"id":1,"id":2}', '{"id":1,"id":2}'],
    ['"text"', "text"],
  ])("as text are read as JSON where they are JSON: %j", async (given, expected) => {
    const inputs: unknown[] = [];
    const kernel = await kernelWith(toolOf(() => 1));
    const [{ manifest }] = kernel.list() as [ToolSummary];
    const spy = {
      list: () => [{ id: "t@1.0.0", hash: "", codeHash: null, manifest }],
      call: (name: string, input: unknown, options?: CallOptions) => (
        inputs.push(input),
        kernel.call(name, input, options)
      ),
      preview: (name: string, input: unknown) => kernel.preview(name, input),
    };
    const [tool] = await openAiTools(spy);
    await tool!.function.function(given);
    expect(inputs).toEqual([expected]);
  });
});

it("names the number in arguments that a double cannot hold", async () => {
  const [tool] = await openAiTools(await kernelWith(toolOf(() => 1)));
  const answer = String(await tool!.function.function('{"ids":[1,9007199254740993]}'));
  expect(JSON.parse(answer)).toMatchObject({
    error: { code: "INVALID_INPUT", message: expect.stringContaining("/ids/1") },
  });
});

it("tells the effects and the value of a call whose output is refused", async () => {
  const base = await kernelWith(toolOf(() => [7, Symbol("s")]));
  const spy = {
    list: () => base.list(),
    call: async (name: string, input: unknown, options?: CallOptions) => ({
      ...(await base.call(name, input, options)),
      effects: ["fs.write"],
    }),
    preview: (name: string, input: unknown) => base.preview(name, input),
  };
  const [tool] = await openAiTools(spy);
  const answer = String(await tool!.function.function("{}"));
  const error = { code: "NOT_NORMALIZABLE", details: { unchecked: "[7,<symbol>]" } };
  expect(JSON.parse(answer)).toMatchObject({ error, effects: ["fs.write"] });
});

describe("an id of a framework that comes again", () => {
  const again = { id: "call_0", input: {} };
  const adapters: Record<string, (kernel: Kernel) => Promise<(call: typeof again) => Promise<string>>> = {
    "ai-sdk": async (kernel) => {
      const [tool] = Object.values((await aiSdkTools(kernel)).tools);
      return async ({ id: toolCallId, input }) => {
        let last: unknown;
        for await (const each of tool!.execute(input, { toolCallId, messages: [] })) last = each;
        return (last as { readonly text: string }).text;
      };
    },
    anthropic: async (kernel) => {
      const [tool] = await anthropicTools(kernel);
      const run: (...given: unknown[]) => Promise<unknown> = (input, context) => tool!.run(input, context as object);
      return async ({ id, input }) => String(await run(input, { toolUse: { id } }));
    },
    langchain: async (kernel) => {
      const [tool] = await langChainTools(kernel, (run) => run as (...given: unknown[]) => Promise<[string, unknown]>);
      return async ({ id, input }) => (await tool!(input, { toolCall: { id } }))[0];
    },
    "openai-agents": async (kernel) => {
      const [tool] = await openAiAgentsTools(kernel);
      const context = { isToolApproved: () => undefined };
      return ({ id, input }) => tool!.invoke(context, JSON.stringify(input), { toolCall: { callId: id } });
    },
  };

  it.each(Object.entries(adapters))(
    "is another call: %s runs the tool again, also at the same time",
    async (_, open) => {
      let runs = 0;
      const run = await open(await kernelWith(toolOf(() => ++runs)));
      expect([await run(again), await run(again)]).toEqual(["1", "2"]);
      expect((await Promise.all([run(again), run(again)])).sort()).toEqual(["3", "4"]);
    },
  );
});

const asking = { version: "1", posture: "standard" } as const;

describe("an approval of the framework", () => {
  it("is asked for where the policy asks, and nowhere else", async () => {
    const { kernel } = await openKernel({ policy: asking });
    kernel.registerTrusted(toolOf(() => 1, { name: "mild", tier: 1 }));
    kernel.registerTrusted(toolOf(() => 1, { name: "strong", tier: 2 }));
    const { toolApproval } = await aiSdkTools(kernel);
    const asked = (toolName: string) => toolApproval({ toolCall: { toolName, input: {} } });
    expect(await asked("mild")).toBeUndefined();
    expect(await asked("strong")).toEqual({ type: "user-approval", reason: expect.any(String) });
    expect(await asked("gone")).toBeUndefined();
  });

  it("counts for the call that was approved, and for no other", async () => {
    const { kernel } = await openKernel({ policy: asking });
    kernel.registerTrusted(toolOf(() => "ran", { tier: 2 }));
    const [tool] = await openAiAgentsTools(kernel, { approver: "ann" });
    const context = { isToolApproved: ({ callId }: { callId: string }) => callId === "1" };
    for (const id of ["1", "2"]) expect(await tool!.needsApproval(context, {}, id)).toBe(true);
    expect(await tool!.invoke(context, "{}", { toolCall: { callId: "1" } })).toBe("ran");
    expect(await tool!.invoke(context, "{}", { toolCall: { callId: "2" } })).toContain("APPROVAL_DENIED");
    expect(await tool!.invoke(context, "{}")).toContain("APPROVAL_DENIED");
  });

  it("does not count of a person whom the policy does not name", async () => {
    const { kernel } = await openKernel({ policy: { ...asking, approvers: ["bob"] } });
    kernel.registerTrusted(toolOf(() => "ran", { tier: 2 }));
    const [tool] = await openAiAgentsTools(kernel, { approver: "ann" });
    const yes = { isToolApproved: ({ callId }: { callId: string }) => callId === "1" };
    await tool!.needsApproval(yes, {}, "1");
    expect(await tool!.invoke(yes, "{}", { toolCall: { callId: "1" } })).toContain("APPROVAL_DENIED");
  });

  it.each<[string, readonly unknown[]]>([
    ["no message", []],
    [
      "an answer without a request",
      [{ content: [{ type: "tool-approval-response", approvalId: "a", approved: true }] }],
    ],
    [
      "a request for another call",
      [
        {
          content: [
            { type: "tool-approval-request", approvalId: "a", toolCallId: "2" },
            { type: "tool-approval-response", approvalId: "a", approved: true },
          ],
        },
      ],
    ],
    [
      "a yes and a no",
      [
        {
          content: [
            { type: "tool-approval-request", approvalId: "a", toolCallId: "1" },
            { type: "tool-approval-response", approvalId: "a", approved: true },
            { type: "tool-approval-response", approvalId: "a", approved: false },
          ],
        },
      ],
    ],
    ["a text", [{ content: "tool-approval-response" }]],
  ])("is not in messages that have %s", async (_, messages) => {
    const { kernel } = await openKernel({ policy: asking });
    kernel.registerTrusted(toolOf(() => "ran", { tier: 2 }));
    const { tools } = await aiSdkTools(kernel);
    const [tool] = Object.values(tools);
    const given: unknown[] = [];
    for await (const each of tool!.execute({}, { toolCallId: "1", messages })) given.push(each);
    expect(given.at(-1)).toMatchObject({ ok: false, error: { code: "APPROVAL_DENIED" } });
  });
});
