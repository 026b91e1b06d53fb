import { type AgentKernel, type PromptApiTool, promptApiTools } from "@keyhole/agents/prompt-api";
import { createKernel, defineTool, type Kernel } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { newAuthenticator, rpId } from "../../support/authenticator.ts";
import { type Ask, type Driver, frameworks } from "./drivers.ts";
import { openWorld } from "./world.ts";

/** As Chrome's session does it: the model's call runs the tool, and the model reads the text that it gives. */
class FakeLanguageModel {
  readonly #tools: readonly PromptApiTool[];

  private constructor(tools: readonly PromptApiTool[]) {
    this.#tools = tools;
  }

  static async create({ tools }: { readonly tools: readonly PromptApiTool[] }): Promise<FakeLanguageModel> {
    return new FakeLanguageModel(tools);
  }

  async prompt({ tool, input }: Ask): Promise<string> {
    const called = this.#tools.find(({ name }) => name === tool);
    return JSON.stringify(await called?.execute(input));
  }
}

const promptApi: Driver = async (kernel, ask) => {
  const { onProgress, signal } = ask;
  const options = { caller: "agent", ...(signal && { signal }), ...(onProgress && { onProgress }) };
  const session = await FakeLanguageModel.create({ tools: await promptApiTools(kernel, options) });
  return session.prompt(ask);
};

const all: Readonly<Record<string, Driver>> = {
  ...Object.fromEntries(Object.entries(frameworks).map(([name, { drive }]) => [name, drive])),
  "Prompt API": promptApi,
};

/** A kernel whose tools were listed before the policy or the mode forbade them. */
const listedBefore = (kernel: Kernel): AgentKernel => ({
  list: () => kernel.list(),
  call: (tool, input, options) => kernel.call(tool, input, options),
  preview: (tool, input, options) => kernel.preview(tool, input, options),
});

const plain = (text: string): string => text.replaceAll('\\"', '"');

/** A kernel whose policy takes no yes without a passkey, with an approver that says yes to all. */
async function passkeyKernel(deeds: string[]): Promise<Kernel> {
  const { passkey } = await newAuthenticator("ann");
  const origins = [`https://${rpId}`];
  const kernel = await createKernel({
    policy: { version: "1", posture: "standard", approver: "passkey", passkeys: { rpId, origins, keys: [passkey] } },
    approver: async () => ({ answer: "allow", scope: "once", approver: "ann" }),
  });
  kernel.registerTrusted(
    defineTool({
      name: "save_note",
      version: "1.0.0",
      description: "Saves.",
      tier: 2,
      input: { type: "object" },
      output: { kind: "json" },
      execute: () => ({ saved: deeds.push("saved") }),
    }),
  );
  return kernel;
}

describe.each(Object.entries(all))("where the policy demands a passkey, a yes in %s", (_, drive) => {
  it("obtains nothing, however often the model asks", async () => {
    const deeds: string[] = [];
    const kernel = await passkeyKernel(deeds);
    for (let at = 0; at < 3; at++) {
      const text = plain(await drive(kernel, { tool: "save_note", input: { at }, answer: "yes" }));
      expect(text).toMatch(/"code":"APPROVAL_(DENIED|UNAVAILABLE)"/);
    }
    expect(deeds).toEqual([]);
    const events = await kernel.audit.read();
    expect(events.filter(({ type }) => type === "tool.started")).toEqual([]);
    await kernel.close();
  });
});

it("one call has one log in every framework", async () => {
  const logs = await Promise.all(
    Object.values(all).map(async (drive) => {
      const world = await openWorld();
      await drive(world.kernel, { tool: "add", input: { a: 1, b: 2 } });
      return JSON.stringify([await world.log(), await world.hashes()]);
    }),
  );
  expect(new Set(logs).size).toBe(1);
});

describe("Chrome's Prompt API", () => {
  it.each([
    ["add", { a: 1, b: 2 }, '"sum":3'],
    ["add", { a: "one" }, '"code":"INVALID_INPUT"'],
    ["locked", {}, '"code":"POLICY_DENIED"'],
    ["broken", {}, '"code":"TOOL_ERROR"'],
    ["endless", {}, '"code":"TIMEOUT"'],
    ["picture", {}, "iVBORw=="],
    ["long", {}, '"truncated":true'],
    ["save_note", {}, '"code":"APPROVAL_DENIED"'],
  ])("gives the model of %s with %j: %s", async (tool, input, expected) => {
    const { kernel } = await openWorld(tool === "save_note" ? "deny" : undefined);
    expect(plain(await promptApi(listedBefore(kernel), { tool, input }))).toContain(expected);
  });

  it("runs what the kernel's approver allowed, reports progress, and ends with its signal", async () => {
    const { kernel } = await openWorld("allow");
    expect(plain(await promptApi(kernel, { tool: "save_note", input: {} }))).toContain('"saved":true');
    const reports: number[] = [];
    await promptApi(kernel, { tool: "steps", input: {}, onProgress: (_, { done }) => void reports.push(done) });
    expect(reports).toEqual([1, 2, 3]);
    const stop = new AbortController();
    const ask = { tool: "patient", input: {}, signal: stop.signal, onProgress: () => stop.abort() };
    expect(plain(await promptApi(kernel, ask))).toContain('"code":"CANCELLED"');
    await kernel.setMode("LOCKDOWN", "drill");
    const text = await promptApi(listedBefore(kernel), { tool: "save_note", input: {} });
    expect(plain(text)).toContain("POLICY_DENIED");
  });
});
