import { aiSdkTools } from "@keyhole/agents/ai-sdk";
import { anthropicTools } from "@keyhole/agents/anthropic";
import { codemodeExecutor } from "@keyhole/agents/cloudflare-codemode";
import { codeMode } from "@keyhole/agents/code-mode";
import { createKernel, type Kernel, type ToolContext } from "@keyhole/kernel";
import { runCode } from "@keyhole/worker-host/tools";
import { nodeHost } from "@keyhole/worker-host/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openKernel, toolOf } from "../support/kernel.ts";

const input = { type: "object", properties: { n: { type: "integer" } }, required: ["n"], additionalProperties: false };
const reserved = "delete";

let kernel: Kernel;
let saved = 0;
const save = (): string => {
  saved++;
  return "saved";
};
beforeAll(async () => {
  const calling = (tools: readonly string[]) => ({ kind: "tool.call", tools });
  const grants = [
    { tool: "run_code", capability: calling(["twice", "save", "through", reserved]) },
    { tool: "through", capability: calling(["save"]) },
  ];
  kernel = await createKernel({
    host: await nodeHost(),
    policy: { version: "1", posture: "permissive", grants },
    approver: async () => ({ answer: "allow", scope: "once", approver: "ann" }),
  });
  kernel.register(runCode);
  kernel.registerTrusted(
    toolOf(({ n }: { n: number }) => n * 2, { name: "twice", description: "Doubles. Always.", input }),
  );
  kernel.registerTrusted(toolOf(save, { name: "save", approval: "always", description: "Saves a note." }));
  const through = async (_: never, { tools }: ToolContext) => (await tools.call("save")).ok;
  kernel.registerTrusted(
    toolOf(through, {
      name: "through",
      determinism: "external",
      capabilities: [calling(["save"])],
      description: "Calls.",
    }),
  );
  kernel.registerTrusted(toolOf(() => "gone", { name: reserved, description: "Deletes a note." }));
  kernel.registerTrusted(toolOf(() => "secret", { name: "closed", description: "Is not granted to programs." }));
});
afterAll(() => kernel.close());

describe("code mode of an agent", () => {
  const run = async (name: string, given: unknown): Promise<unknown> => {
    const tools = await anthropicTools(codeMode(kernel), { caller: "agent" });
    const text = String(await tools.find((tool) => tool.name === name)!.run(given));
    return text.startsWith("{") ? JSON.parse(text) : text;
  };

  it("shows three tools in place of all, and the tool that reads on", async () => {
    const { tools } = await aiSdkTools(codeMode(kernel));
    expect(Object.keys(tools)).toEqual(["list_tools", "describe_tools", "run_code", "read_result"]);
  });

  it("shows one tool with the types of all", async () => {
    const { tools } = await aiSdkTools(codeMode(kernel, { style: "types" }));
    expect(Object.keys(tools)).toEqual(["run_code", "read_result"]);
    expect(tools["run_code"]!.description).toContain(
      "/** Doubles. Always. */ twice(input: { n: number }): Promise<unknown>;",
    );
  });

  it("finds tools by words, describes them and runs a program", async () => {
    expect(await run("list_tools", { query: "note save" })).toEqual({
      tools: [
        { name: "save", description: "Saves a note." },
        { name: reserved, description: "Deletes a note." },
      ],
      total: 2,
      next: null,
    });
    expect(await run("describe_tools", { names: ["save"] })).toContain("save(input?: Record<string, unknown>)");
    const code = `const twice = await tools.twice({ n: 21 }); return [twice, await tools.save()];`;
    expect(await run("run_code", { code })).toEqual({ result: [42, "saved"], logs: [] });
  });

  it("puts each call of a program on record, with its approval", async () => {
    const before = (await kernel.audit.read()).length;
    await run("run_code", { code: "return await tools.save();" });
    const types = (await kernel.audit.read()).slice(before).map(({ type }) => type);
    expect(types.filter((type) => type === "call.invoked")).toHaveLength(2);
    expect(types).toContain("approval.resolved");
  });

  it("lets no program call what the policy does not grant it", async () => {
    expect(await run("run_code", { code: "return await tools.closed();" })).toMatchObject({
      error: { code: "CAPABILITY_DENIED" },
    });
  });

  it.each<[string, unknown, string]>([
    ["list_tools", { query: 1 }, "INVALID_INPUT"],
    ["list_tools", { offset: -1 }, "INVALID_INPUT"],
    ["describe_tools", {}, "INVALID_INPUT"],
    ["describe_tools", { names: [] }, "INVALID_INPUT"],
    ["describe_tools", { names: Array.from({ length: 21 }, () => "save") }, "INVALID_INPUT"],
    ["describe_tools", { names: ["gone", "save"] }, "TOOL_NOT_FOUND"],
    ["describe_tools", "names", "INVALID_INPUT"],
  ])("%s refuses %j", async (name, given, code) => {
    expect(await run(name, given)).toMatchObject({ error: { code, hint: expect.stringMatching(/\S/) } });
  });

  it("is refused without a tool that runs programs", async () => {
    const { kernel: bare } = await openKernel();
    await expect(anthropicTools(codeMode(bare))).rejects.toThrow('no tool "run_code"');
  });

  it("lists 500 tools in pages", async () => {
    const { kernel: many } = await openKernel();
    many.registerTrusted(toolOf(() => 1, { name: "run_code" }));
    for (let at = 0; at < 500; at++)
      many.registerTrusted(toolOf(() => at, { name: `tool_${String(at).padStart(3, "0")}` }));
    const [list] = await anthropicTools(codeMode(many));
    const names: string[] = [];
    for (let offset: number | null = 0; offset !== null;) {
      const page = JSON.parse(String(await list!.run({ offset }))) as {
        tools: { name: string }[];
        next: number | null;
      };
      names.push(...page.tools.map(({ name }) => name));
      offset = page.next;
    }
    expect(new Set(names).size).toBe(500);
  });
});

const never = { twice: () => Promise.reject(new Error("The function ran.")) };

describe("the executor for codemode", () => {
  const execute = (code: string, ...rest: [unknown?, object?]) =>
    codemodeExecutor(kernel, { caller: "agent" }).execute(code, (rest[0] ?? never) as never, rest[1]);

  it("runs a program whose functions are the kernel's tools", async () => {
    const code = `async () => { console.log("on it"); return await codemode.twice({ n: 21 }); };`;
    expect(await execute(code)).toEqual({ result: 42, logs: ["on it"] });
  });

  it("has a name for each provider, its prelude, and words of JavaScript with a mark", async () => {
    const providers = [
      { name: "numbers", fns: never, prelude: "numbers.four = () => numbers.twice({ n: 2 });" },
      { name: "notes", fns: { [reserved]: 0 } },
    ];
    const code = `async () => [await numbers.four(), await notes.${reserved}_(), typeof numbers.${reserved}, typeof codemode]`;
    expect(await execute(code, providers)).toMatchObject({ result: [4, "gone", "undefined", "undefined"] });
  });

  it.each([
    ["the parameter of run_code", "async () => await tools.save()"],
    ["the parameter of run_code, outside of its function", "0);\n}, await tools.save(), async () => {\n(0"],
    [
      "the parameter of run_code, and goes on",
      "0);\n}, await tools.save().catch(() => tools.save()), async () => {\n(0",
    ],
  ])("ends a program that calls by %s a tool of no provider", async (_, code) => {
    saved = 0;
    const { result, error } = await execute(code);
    expect({ result, saved }).toEqual({ result: undefined, saved: 0 });
    expect(error).toMatch(/save|undefined/);
  });

  it("lets the tool of a provider call what its own grant gives", async () => {
    expect(await execute("() => codemode.through()", { through: 0 })).toMatchObject({ result: true });
  });

  it.each<[string, string, unknown?, object?]>([
    ["a function that is no tool of the kernel", "() => 1", { gone: () => 1 }],
    ["a provider whose name is code", "() => 1", [{ name: "a) => 1", fns: {} }]],
    [
      "two providers of one name",
      "() => 1",
      [
        { name: "a", fns: {} },
        { name: "a", fns: {} },
      ],
    ],
    ["connectors", "() => 1", {}, { connectors: [{}] }],
    ["a program that does not compile", "async () => {"],
    ["a program that throws", "() => { throw new Error('no') }"],
    ["a call that the policy does not grant", "() => codemode.closed()", { closed: () => 1 }],
  ])("says an error for %s", async (_, code, providers, options) => {
    const { result, error } = await execute(code, providers, options);
    expect(result).toBeUndefined();
    expect(error).toMatch(/\S/);
  });
});
