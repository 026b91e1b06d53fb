import { decisionPath, policyClient, toolsPath } from "@keyhole/agents/policy-client";
import { promptApiTools } from "@keyhole/agents/prompt-api";
import { describe, expect, it } from "vitest";
import { bob, passkeysOf } from "../policy/passkeys.ts";
import { openKernel, toolOf } from "../support/kernel.ts";

const rule = { id: "closed", effect: "deny", reason: "Nobody calls it.", when: { tool: ["closed"] } };
const policy = { version: "1", posture: "standard", rules: [rule] };

async function opened() {
  const { kernel } = await openKernel({ policy });
  kernel.registerTrusted(toolOf(() => 1, { name: "mild" }));
  kernel.registerTrusted(toolOf(() => 1, { name: "strong", tier: 2 }));
  kernel.registerTrusted(toolOf(() => 1, { name: "closed" }));
  return kernel;
}

describe("the kernel as a PolicyClient", () => {
  it.each<[unknown, string, RegExp]>([
    [{ tool: { name: "mild" }, args: {} }, "allow", /^$/],
    [{ tool: { name: "strong" }, args: {} }, "requires-approval", /\S/],
    [{ tool: { name: "closed" }, args: {} }, "deny", /Nobody calls it/],
    [{ tool: { name: "gone" }, args: {} }, "deny", /gone/],
    [{ tool: { name: "mild" }, args: "text" }, "deny", /\S/],
    [{ tool: {} }, "deny", /no tool/],
    [null, "deny", /no tool/],
  ])("says of %j: %s", async (input, decision, reason) => {
    const kernel = await opened();
    const before = (await kernel.audit.read()).length;
    const answer = await policyClient(kernel).evaluate<{ decision: string; reason?: string }>(decisionPath, input);
    expect(answer.decision).toBe(decision);
    expect(answer.reason ?? "").toMatch(reason);
    expect(await kernel.audit.read()).toHaveLength(before);
  });

  it("names the tools of the caller, and denies what is not one of the agent", async () => {
    const kernel = await opened();
    const all = await policyClient(kernel, { caller: "agent" }).evaluate<{ tools: string[] }>(toolsPath, {});
    expect(all.tools).toEqual(["mild", "strong"]);
    const client = policyClient(kernel, { tools: ["mild"] });
    expect(await client.evaluate(toolsPath, {})).toEqual({ tools: ["mild"] });
    const denied = await client.evaluate(decisionPath, { tool: { name: "strong" }, args: {} });
    expect(denied).toMatchObject({ decision: "deny" });
  });

  it("denies a call that only the kernel could count, label or ask a passkey for", async () => {
    const governed = {
      version: "1",
      posture: "standard",
      passkeys: passkeysOf(bob),
      labels: { untrusted: { tools: ["web"] } },
      tools: { mail: { rate: { calls: 2, windowMs: 3_600_000 } } },
      rules: [
        {
          id: "daily",
          effect: "deny",
          when: { tool: ["pay"], count: { windowMs: 86_400_000, sum: "/amount", moreThan: 5_000 } },
          reason: "At most 5,000 a day.",
        },
        {
          id: "some",
          effect: "ask",
          when: { tool: ["look"], count: { windowMs: 86_400_000, moreThan: 5 } },
          reason: "Much.",
        },
        { id: "signed", effect: "ask", approver: "passkey", when: { tool: ["sign"] }, reason: "Sign it." },
        { id: "tainted", effect: "deny", when: { tool: ["send"], labels: ["untrusted"] }, reason: "It read the web." },
      ],
    };
    const { kernel } = await openKernel({ policy: governed });
    for (const name of ["web", "send", "pay", "mail", "look", "sign"])
      kernel.registerTrusted(toolOf(() => 1, { name }));
    const decisions = async (): Promise<Record<string, string>> => {
      const client = policyClient(kernel, { caller: "agent", sessionId: "s" });
      const answers = ["web", "send", "pay", "mail", "look", "sign"].map(async (name) => {
        const question = { tool: { name }, args: { amount: 4_000 } };
        return [name, (await client.evaluate<{ decision: string }>(decisionPath, question)).decision] as const;
      });
      return Object.fromEntries(await Promise.all(answers));
    };
    expect(await decisions()).toEqual({
      web: "deny",
      send: "allow",
      pay: "deny",
      mail: "deny",
      look: "deny",
      sign: "deny",
    });
    // Labels of calls that the kernel made do hold.
    await kernel.call("web", {}, { caller: "agent", sessionId: "s" });
    expect(await decisions()).toMatchObject({ send: "deny" });
    await kernel.setPolicy({ ...governed, enforcement: "observe" });
    expect(new Set(Object.values(await decisions()))).toEqual(new Set(["allow"]));
  });

  it("denies where the kernel proves nothing", async () => {
    const kernel = await opened();
    const preview = async () => ({ decision: "allow" }) as const;
    const list = () => kernel.list();
    const client = policyClient({ call: (...call) => kernel.call(...call), list, preview });
    expect(await client.evaluate(decisionPath, { tool: { name: "mild" } })).toMatchObject({ decision: "deny" });
  });

  it("denies on a path that it does not know", async () => {
    expect(await policyClient(await opened()).evaluate("agent/decision", {})).toMatchObject({ decision: "deny" });
  });
});

describe("the kernel's tools in the Prompt API", () => {
  it("give text, and errors as JSON", async () => {
    const kernel = await opened();
    const tools = await promptApiTools(kernel, { tools: ["mild", "closed"] });
    expect(tools.map(({ name }) => name)).toEqual(["closed", "mild", "read_result"]);
    expect(await tools[1]!.execute({})).toBe("1");
    expect(await tools[1]!.execute("{}")).toBe("1");
    expect(await tools[0]!.execute({})).toContain('"code":"POLICY_DENIED"');
  });

  it("end with the signal of the options", async () => {
    const { kernel } = await openKernel();
    const stop = new AbortController();
    kernel.registerTrusted(
      toolOf(
        (_: never, { signal }: { signal: AbortSignal }) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener("abort", () => reject(new Error("stopped")));
            stop.abort();
          }),
      ),
    );
    const [tool] = await promptApiTools(kernel, { signal: stop.signal });
    expect(await tool!.execute({})).toContain('"code":"CANCELLED"');
  });
});
