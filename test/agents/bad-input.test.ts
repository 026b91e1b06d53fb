import { aiSdkTools } from "@keyhole/agents/ai-sdk";
import { anthropicTools } from "@keyhole/agents/anthropic";
import { openAiTools } from "@keyhole/agents/openai";
import { openAiAgentsTools } from "@keyhole/agents/openai-agents";
import { exposeToPage, type WebMcpTool } from "@keyhole/agents/webmcp";
import { describe, expect, it } from "vitest";
import { openKernel, toolOf } from "../support/kernel.ts";

async function kernelWith(more: Record<string, unknown>, execute: () => unknown = () => 1) {
  const { kernel } = await openKernel();
  kernel.registerTrusted(toolOf(execute, more));
  return kernel;
}

describe("a schema that a provider refuses", () => {
  const object = { type: "object", properties: { a: { type: "string" } } };

  it.each(["oneOf", "anyOf", "allOf"])("is refused with the provider's rule: %s at the top", async (keyword) => {
    const kernel = await kernelWith({ input: { ...object, [keyword]: [{ required: ["a"] }] } });
    const message = `refuses the schema of subject: \`${keyword}\` stands at its top.`;
    await expect(openAiTools(kernel)).rejects.toThrow(`OpenAI ${message}`);
    await expect(openAiAgentsTools(kernel)).rejects.toThrow(`OpenAI ${message}`);
    await expect(anthropicTools(kernel)).rejects.toThrow(`Anthropic ${message}`);
  });

  it("is taken below the top, and where the tool is left out", async () => {
    const below = { type: "object", properties: { a: { anyOf: [{ type: "null" }, object] } } };
    expect(await openAiTools(await kernelWith({ input: below }))).toHaveLength(2);
    const kernel = await kernelWith({ input: { ...object, not: {} } });
    kernel.registerTrusted(toolOf(() => 1, { name: "other" }));
    expect(await openAiTools(kernel, { tools: ["other"] })).toHaveLength(2);
    expect(await anthropicTools(kernel)).toHaveLength(3);
  });

  it.each([
    ["a".repeat(64), true],
    ["a".repeat(65), false],
    ["a b", false],
    ["$a", false],
    ["A.b-c_9", true],
  ])("by the name of a member: %j", async (name, isTaken) => {
    const kernel = await kernelWith({ input: { type: "object", properties: { [name]: {} } } });
    const taken = await anthropicTools(kernel).then(
      () => true,
      () => false,
    );
    expect(taken).toBe(isTaken);
  });
});

/** Reports, and ends when it is told to. */
const reporting = (reports: number, stopped: () => void) =>
  toolOf((_: never, { signal, progress }: { signal: AbortSignal; progress: (each: object) => void }) => {
    for (let done = 1; done <= reports; done++) progress({ done });
    return new Promise((_, reject) => {
      signal.addEventListener("abort", () => {
        stopped();
        reject(new Error("stopped"));
      });
    });
  });

describe("a framework that does not behave", () => {
  it("leaves the stream of a call after its first part: the call ends", async () => {
    const { kernel } = await openKernel();
    const ended = Promise.withResolvers<string>();
    kernel.registerTrusted(reporting(1, () => ended.resolve("stopped")));
    const { tools } = await aiSdkTools(kernel);
    for await (const part of tools["subject"]!.execute({}, { toolCallId: "1", messages: [] })) {
      expect(part).toEqual({ progress: { done: 1 } });
      break;
    }
    expect(await ended.promise).toBe("stopped");
  });

  it("reads the stream of a call late: the newest part waits for it, and not all", async () => {
    const { kernel } = await openKernel();
    const asked = new AbortController();
    kernel.registerTrusted(reporting(5_000, () => {}));
    const { tools } = await aiSdkTools(kernel);
    const given = { toolCallId: "1", messages: [], abortSignal: asked.signal };
    const parts = tools["subject"]!.execute({}, given)[Symbol.asyncIterator]();
    await parts.next();
    asked.abort();
    let count = 1;
    let last: unknown;
    for (let next = await parts.next(); next.done !== true; next = await parts.next()) {
      count++;
      last = next.value;
    }
    expect(last).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
    expect(count).toBeLessThanOrEqual(3);
  });

  it("puts a document.modelContext in the place of the browser's before the tools are exposed: it obtains no approval", async () => {
    let saved = 0;
    const { kernel } = await openKernel({ policy: { version: "1", posture: "standard" } });
    kernel.registerTrusted(toolOf(() => ++saved, { tier: 2 }));
    const answers: unknown[] = [];
    const modelContext = {
      async registerTool({ execute }: WebMcpTool): Promise<void> {
        // It calls what it is given at once, and again with all that a model could send.
        for (const given of [{}, "{}", { approved: true }, undefined]) answers.push(await execute(given));
      },
    };
    const exposed = await exposeToPage(kernel, { modelContext });
    expect(exposed.tools).toContain("subject");
    const codes = answers
      .slice(0, 4)
      .map((answer) => Reflect.get(Object(Reflect.get(Object(answer), "error")), "code"));
    expect(codes).toEqual(["APPROVAL_DENIED", "APPROVAL_DENIED", "APPROVAL_DENIED", "INVALID_INPUT"]);
    expect(saved).toBe(0);
  });

  it("aborts between a person's yes and the run", async () => {
    let runs = 0;
    const { kernel } = await openKernel({ policy: { version: "1", posture: "standard" } });
    kernel.registerTrusted(
      toolOf(
        (_: never, { signal }: { signal: AbortSignal }) => {
          signal.throwIfAborted();
          return ++runs;
        },
        { tier: 2 },
      ),
    );
    const [tool] = await openAiAgentsTools(kernel);
    const yes = { isToolApproved: ({ callId }: { callId: string }) => callId === "1" };
    await tool!.needsApproval(yes, {}, "1");
    const given = { toolCall: { callId: "1" }, signal: AbortSignal.abort() };
    expect(await tool!.invoke(yes, "{}", given)).toContain('"code":"CANCELLED"');
    expect(runs).toBe(0);
  });

  it("replaces document.modelContext after the tools are exposed", async () => {
    const kernel = await kernelWith({});
    const registered: WebMcpTool[] = [];
    const signals: AbortSignal[] = [];
    const page = {
      modelContext: {
        registerTool: (tool: WebMcpTool, { signal }: { readonly signal: AbortSignal }): void => {
          registered.push(tool);
          signals.push(signal);
        },
      },
    };
    const exposed = await exposeToPage(kernel, page);
    page.modelContext = { registerTool: () => {} };
    expect(await registered[0]!.execute({})).toBe(1);
    exposed.close();
    expect(signals.every(({ aborted }) => aborted)).toBe(true);
  });
});
