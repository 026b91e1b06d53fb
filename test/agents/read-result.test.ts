import { type AgentOptions, anthropicTools } from "@keyhole/agents/anthropic";
import type { ToolContext } from "@keyhole/kernel";
import { filesBroker, memoryStore } from "@keyhole/worker-host/brokers/files";
import { describe, expect, it } from "vitest";
import { granting, openKernel, openPolicy, toolOf } from "../support/kernel.ts";

const long = "0123456789".repeat(100);

async function openAgent(options: AgentOptions = {}) {
  const { kernel } = await openKernel();
  kernel.registerTrusted(toolOf(() => long, { name: "long", tier: 2, output: { kind: "text" } }));
  const tools = await anthropicTools(kernel, { answerBytes: 512, ...options });
  const run = async (name: string, input: unknown): Promise<Record<string, unknown>> =>
    JSON.parse(String(await tools.find((tool) => tool.name === name)!.run(input))) as Record<string, unknown>;
  return { kernel, tools, run };
}

describe("read_result", () => {
  it("gives the rest of an answer that was cut, and is no call of the kernel", async () => {
    const { kernel, run } = await openAgent();
    const { hash, beginning, next } = await run("long", {});
    const before = (await kernel.audit.read()).length;
    let [whole, offset] = [String(beginning), next];
    while (offset !== null) {
      const part = await run("read_result", { hash, offset });
      whole += String(part["text"]);
      offset = part["next"];
    }
    expect(whole).toBe(long);
    expect(await kernel.audit.read()).toHaveLength(before);
  });

  it("ends in lockdown, and under a policy that forbids the tool", async () => {
    const { kernel, run } = await openAgent();
    const { hash } = await run("long", {});
    await kernel.setMode("LOCKDOWN", "drill");
    expect(await run("read_result", { hash })).toMatchObject({ error: { code: "POLICY_DENIED" } });
    await kernel.setMode("NORMAL", "over");
    expect(await run("read_result", { hash })).toMatchObject({ offset: 0 });
    const rule = { id: "closed", effect: "deny", reason: "Nobody.", when: { tool: ["long"] } };
    await kernel.setPolicy({ version: "1", posture: "permissive", rules: [rule] });
    expect(await run("read_result", { hash })).toMatchObject({ error: { code: "POLICY_DENIED" } });
  });

  it("ends under any other policy, also one that still lets the tool start", async () => {
    const { kernel, run } = await openAgent();
    const { hash } = await run("long", {});
    await kernel.setPolicy(openPolicy);
    expect(await run("read_result", { hash })).toMatchObject({ offset: 0 });
    await kernel.setPolicy({
      ...openPolicy,
      grants: [{ tool: "long", capability: { kind: "fs.read", paths: ["a"] } }],
    });
    expect(await run("read_result", { hash })).toMatchObject({ error: { code: "INVALID_INPUT" } });
    await kernel.setPolicy(openPolicy);
    expect(await run("read_result", { hash })).toMatchObject({ offset: 0 });
  });

  it.each([
    ["the tool", ["fs.write"], "long", true],
    ["the caller, whatever the tool and the kind", undefined, undefined, true],
    ["another kind of the tool", ["fs.read"], "long", false],
    ["another tool", ["fs.write"], "other", false],
  ])("ends with a revocation for %s of an optional kind that the call used", async (_, kinds, tool, ends) => {
    const files = (["fs.read", "fs.write"] as const).map((kind) => ({ kind, paths: ["**"] }));
    const { kernel } = await openKernel({ policy: granting(...files), brokers: [filesBroker(memoryStore())] });
    const writes = async (_: never, { files }: ToolContext): Promise<string> => {
      await files.write("a", "x");
      return long;
    };
    const capabilities = files.map((each) => ({ ...each, optional: true }));
    const effects = files.map(({ kind }) => kind);
    kernel.registerTrusted(
      toolOf(writes, {
        name: "long",
        output: { kind: "text" },
        capabilities,
        effects,
        tier: 2,
        determinism: "external",
      }),
    );
    const tools = await anthropicTools(kernel, { answerBytes: 512, caller: "ada" });
    const run = async (name: string, input: unknown): Promise<Record<string, unknown>> =>
      JSON.parse(String(await tools.find((each) => each.name === name)!.run(input))) as Record<string, unknown>;
    const { hash } = await run("long", {});
    expect(await run("read_result", { hash })).toMatchObject({ offset: 0 });
    await kernel.grants.revoke(
      { caller: "ada", ...(kinds && { kinds }), ...(tool !== undefined && { tool }) },
      "Enough.",
    );
    expect(await run("read_result", { hash })).toMatchObject(
      ends ? { error: { code: "CAPABILITY_DENIED" } } : { offset: 0 },
    );
  });

  it("ends with a revocation also where a rate already denies the next call", async () => {
    const grants = granting({ kind: "fs.write", paths: ["**"] });
    const policy = { ...grants, tools: { long: { rate: { calls: 1, windowMs: 3_600_000 } } } };
    const { kernel } = await openKernel({ policy, brokers: [filesBroker(memoryStore())] });
    const writes = async (_: never, { files }: ToolContext): Promise<string> => {
      await files.write("a", "x");
      return long;
    };
    const capabilities = [{ kind: "fs.write", paths: ["**"], optional: true } as const];
    const given = { output: { kind: "text" }, capabilities, effects: ["fs.write"], determinism: "external" } as const;
    kernel.registerTrusted(toolOf(writes, { name: "long", tier: 2, ...given }));
    const tools = await anthropicTools(kernel, { answerBytes: 512, caller: "ada" });
    const run = async (name: string, input: unknown): Promise<Record<string, unknown>> =>
      JSON.parse(String(await tools.find((each) => each.name === name)!.run(input))) as Record<string, unknown>;
    const { hash } = await run("long", {});
    expect(await run("long", {})).toMatchObject({ error: { code: "RATE_LIMITED" } });
    expect(await run("read_result", { hash })).toMatchObject({ offset: 0 });
    await kernel.grants.revoke({ caller: "ada", kinds: ["fs.write"] }, "Enough.");
    expect(await run("read_result", { hash })).toMatchObject({ error: { code: "CAPABILITY_DENIED" } });
  });

  it("does not read what another agent was given", async () => {
    const [own, other] = [await openAgent(), await openAgent()];
    const { hash } = await own.run("long", {});
    expect(await other.run("read_result", { hash })).toMatchObject({ error: { code: "INVALID_INPUT" } });
  });

  it.each<[string, unknown]>([
    ["an unknown hash", { hash: "blake3:00" }],
    ["no arguments", {}],
    ["text", "hash"],
    ["null", null],
    ["a negative offset", { offset: -1 }],
    ["a text as offset", { offset: "1" }],
    ["an empty text to find", { find: "" }],
    ["a member too many", { more: 1 }],
  ])("refuses %s", async (_, given) => {
    const { run } = await openAgent();
    const { hash } = await run("long", {});
    const input =
      typeof given === "object" && given !== null && Object.keys(given).length > 0 ? { hash, ...given } : given;
    const { error } = await run("read_result", input);
    expect(error).toMatchObject({ code: "INVALID_INPUT", hint: expect.stringMatching(/\S/) });
  });
});

describe("a budget", () => {
  it("of a tool goes before the budget of all tools", async () => {
    const { tools } = await openAgent({ budgets: { long: { answerBytes: 1_000 } } });
    expect(await tools[0]!.run({})).toBe(long);
    const { run: runCut } = await openAgent({ answerBytes: 1_000, budgets: { long: { answerBytes: 600 } } });
    expect(await runCut("long", {})).toMatchObject({ truncated: true });
  });

  it.each<[string, AgentOptions, string]>([
    ["in which no answer fits", { answerBytes: 511 }, "answerBytes is 511, expected an integer of at least 512."],
    ["that is no number of bytes", { answerBytes: Number.NaN }, "as `answerBytes`, not NaN"],
    ["of an unknown tool", { budgets: { gone: {} } }, 'no tool "gone"'],
    ["that no definition keeps", { definitionBytes: 9 }, "Raise it, or leave the tool out."],
  ])("%s is refused", async (_, options, message) => {
    await expect(openAgent(options)).rejects.toThrow(message);
  });

  it("bounds what a model is told of each tool", async () => {
    const { kernel } = await openKernel();
    const input = { type: "object", properties: { a: { type: "string", description: "x".repeat(900) } } };
    kernel.registerTrusted(toolOf(() => 1, { name: "wordy", description: "Says much. ".repeat(90), input }));
    const tools = await anthropicTools(kernel, { definitionBytes: 400 });
    for (const tool of tools) expect(JSON.stringify(tool).length).toBeLessThan(450);
    expect(await tools[0]!.run({ a: 1 })).toContain("INVALID_INPUT");
  });

  it("bounds what a model is told of an error", async () => {
    const { kernel } = await openKernel();
    const tool = toolOf(() => {
      throw new Error("\u0000".repeat(5_000));
    });
    kernel.registerTrusted(tool);
    const [own] = await anthropicTools(kernel, { answerBytes: 512 });
    const text = String(await own!.run({}));
    expect(new TextEncoder().encode(text).length).toBeLessThanOrEqual(512);
    expect(JSON.parse(text)).toMatchObject({ error: { code: "TOOL_ERROR" } });
  });

  it("holds for 500 tools", async () => {
    const { kernel } = await openKernel();
    for (let at = 0; at < 500; at++) kernel.registerTrusted(toolOf(() => at, { name: `tool_${at}` }));
    const tools = await anthropicTools(kernel, { definitionBytes: 400 });
    expect(tools).toHaveLength(501);
    expect(await tools.find(({ name }) => name === "tool_499")!.run({})).toBe("499");
  });
});
