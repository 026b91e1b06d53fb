import { codemodeExecutor } from "@keyhole/agents/cloudflare-codemode";
import { decisionPath, policyClient, toolsPath } from "@keyhole/agents/policy-client";
import { createBrowserCodeTool } from "@cloudflare/codemode/browser";
import { opaCapabilityMiddleware, opaPolicy } from "@ai-sdk/policy-opa";
import { createKernel, defineTool, type Kernel } from "@keyhole/kernel";
import { nodeHost } from "@keyhole/worker-host/node";
import { runCode } from "@keyhole/worker-host/tools";
import { generateText, isStepCount, jsonSchema, tool, wrapLanguageModel } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const common = { version: "1.0.0", input: { type: "object" }, output: { kind: "json" } } as const;
const asked: string[] = [];

let kernel: Kernel;
beforeAll(async () => {
  const capability = { kind: "tool.call", tools: ["add", "save"] } as const;
  const rule = { id: "closed", effect: "deny", reason: "Nobody calls it.", when: { tool: ["locked"] } };
  kernel = await createKernel({
    host: await nodeHost(),
    policy: { version: "1", posture: "standard", grants: [{ tool: "run_code", capability }], rules: [rule] },
    approver: async (request) => {
      asked.push(request.tool);
      return { answer: "allow", scope: "once", approver: "ann" };
    },
  });
  kernel.register(runCode);
  kernel.registerTrusted(
    defineTool({ ...common, name: "add", description: "Adds.", execute: ({ a, b }) => Number(a) + Number(b) }),
  );
  kernel.registerTrusted(
    defineTool({ ...common, name: "save", description: "Saves.", tier: 2, execute: () => "saved" }),
  );
  kernel.registerTrusted(defineTool({ ...common, name: "locked", description: "Never runs.", execute: () => "ran" }));
});
afterAll(() => kernel.close());

describe("Cloudflare's codemode over the kernel", () => {
  const never = () => Promise.reject(new Error("The function ran."));
  const codeTool = (...names: readonly string[]) =>
    createBrowserCodeTool({
      tools: names.map((name) => ({ name, description: name, inputSchema: { type: "object" }, execute: never })),
      executor: codemodeExecutor(kernel, { caller: "agent" }),
    });

  it("runs a program whose functions are the kernel's tools, and asks about each call", async () => {
    const code = `async () => {
      const sums = await Promise.all([1, 2].map((n) => codemode.add({ a: n, b: n })));
      console.log("added");
      return [sums, await codemode.save({})];
    }`;
    expect(await codeTool("add", "save").execute({ code })).toEqual({ result: [[2, 4], "saved"], logs: ["added"] });
    expect(asked).toEqual(["save@1.0.0"]);
  });

  it("tells codemode of a refusal as an error", async () => {
    const code = `async () => codemode.locked({})`;
    await expect(codeTool("locked").execute({ code })).rejects.toThrow("Code execution failed");
    await expect(codeTool("gone").execute({ code })).rejects.toThrow('no tool "gone"');
  });
});

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** A model that calls one tool, and then answers. */
const calling = (toolName: string): MockLanguageModelV4 =>
  new MockLanguageModelV4({
    doGenerate: [
      {
        content: [{ type: "tool-call", toolCallId: "1", toolName, input: "{}" }],
        finishReason: { unified: "tool-calls", raw: undefined },
        usage,
        warnings: [],
      },
      {
        content: [{ type: "text", text: "done" }],
        finishReason: { unified: "stop", raw: undefined },
        usage,
        warnings: [],
      },
    ],
  });

describe("the kernel's policy through @ai-sdk/policy-opa", () => {
  const ran: string[] = [];
  const own = (name: string) =>
    tool({
      description: name,
      inputSchema: jsonSchema({ type: "object" }),
      execute: async () => {
        ran.push(name);
        return name;
      },
    });
  const tools = { add: own("add"), save: own("save"), locked: own("locked"), gone: own("gone") };
  const generate = (name: string) =>
    generateText({
      model: calling(name),
      prompt: "go",
      tools,
      stopWhen: isStepCount(2),
      // The package takes types of another version of the SDK.
      toolApproval: opaPolicy({ client: policyClient(kernel, { caller: "agent" }), path: decisionPath }) as never,
    });

  it.each([
    ["add", ["add"]],
    ["save", []],
    ["locked", []],
    ["gone", []],
  ])("decides about %s", async (name, expected) => {
    ran.length = 0;
    const { content } = await generate(name);
    expect(ran).toEqual(expected);
    const requests = content.filter((part) => part.type === "tool-approval-request" && part.isAutomatic !== true);
    expect(requests).toHaveLength(name === "save" ? 1 : 0);
  });

  it("shows the model the tools that the caller could be allowed", async () => {
    const model = calling("add");
    const middleware = opaCapabilityMiddleware({ client: policyClient(kernel, { caller: "agent" }), path: toolsPath });
    await generateText({ model: wrapLanguageModel({ model, middleware: middleware as never }), prompt: "go", tools });
    expect(model.doGenerateCalls[0]!.tools?.map(({ name }) => name)).toEqual(["add", "save"]);
  });
});
