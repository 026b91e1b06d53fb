import fc from "fast-check";
import { createKernel, type Kernel, type PolicyDocument, type PolicyRule, type ToolSummary } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { openKernel, toolOf } from "../support/kernel.ts";

const names = (list: readonly ToolSummary[]): string[] => list.map(({ manifest }) => manifest.name);
const rule = (when: PolicyRule["when"], effect: PolicyRule["effect"] = "deny"): PolicyRule => ({
  id: "rule",
  effect,
  when,
  reason: "A test.",
});

async function kernelWith(policy: Partial<PolicyDocument>, ...tools: readonly object[]): Promise<Kernel> {
  const { kernel } = await openKernel({ policy: { version: "1", posture: "standard", ...policy } });
  for (const tool of tools) {
    const registered = kernel.registerTrusted(toolOf(() => ({}), tool as Record<string, unknown>));
    if (!registered.ok) throw new Error(registered.error.message);
  }
  return kernel;
}

const fetcher = {
  name: "fetcher",
  determinism: "external",
  effects: ["net.read"],
  capabilities: [{ kind: "net.read", hosts: ["*"] }],
};
const capability = { kind: "net.read", hosts: ["example.com"] } as const;

describe("a list for a caller", () => {
  it("leaves out a tool whose needed capability the caller is not granted", async () => {
    const kernel = await kernelWith({ grants: [{ tool: "fetcher", caller: "ada", capability }] }, fetcher);
    expect(names(kernel.list({ caller: "ada" }))).toEqual(["fetcher"]);
    expect(names(kernel.list({ caller: "bob" }))).toEqual([]);
    expect(names(kernel.list())).toEqual(["fetcher"]);
  });

  it("keeps a tool whose optional capability is not granted", async () => {
    const optional = [{ kind: "net.read", hosts: ["*"], optional: true }];
    const kernel = await kernelWith({}, { ...fetcher, capabilities: optional });
    expect(names(kernel.list({ caller: "bob" }))).toEqual(["fetcher"]);
  });

  it("leaves out a tool whose grant is revoked, until it is restored", async () => {
    const kernel = await kernelWith({ grants: [{ tool: "fetcher", capability }] }, fetcher);
    const { revocationId } = await kernel.grants.revoke({ caller: "bob" }, "Under review.");
    expect(names(kernel.list({ caller: "bob" }))).toEqual([]);
    expect(names(kernel.list({ caller: "ada" }))).toEqual(["fetcher"]);
    await kernel.grants.restore(revocationId, "Reviewed.");
    expect(names(kernel.list({ caller: "bob" }))).toEqual(["fetcher"]);
  });

  it.each<[string, Partial<PolicyDocument>, boolean]>([
    ["denies the tool", { rules: [rule({ tool: ["subject"] })] }, false],
    ["denies the caller", { rules: [rule({ caller: ["bob"] })] }, false],
    ["denies another caller", { rules: [rule({ caller: ["ada"] })] }, true],
    ["denies some arguments", { rules: [rule({ arguments: [{ at: "/a", exists: true }] })] }, true],
    ["denies at some times", { rules: [rule({ time: { days: ["mon"] } })] }, true],
    ["denies a session", { rules: [rule({ session: ["s"] })] }, true],
    ["denies after so many calls", { rules: [rule({ count: { windowMs: 1000, moreThan: 0 } })] }, true],
    ["denies some requests", { rules: [rule({ host: ["example.com"] })] }, true],
    ["asks about the tool", { rules: [rule({ tool: ["subject"] }, "ask")] }, true],
    ["only observes", { enforcement: "observe", rules: [rule({ tool: ["subject"] })] }, true],
    ["forbids it in this mode", { tools: { subject: { modes: { forbidden: ["NORMAL"] } } } }, false],
  ])("follows a policy that %s", async (_, policy, isListed) => {
    const kernel = await kernelWith(policy, {});
    expect(names(kernel.list({ caller: "bob" }))).toEqual(isListed ? ["subject"] : []);
  });

  it("leaves out tiers that the posture denies, also where a rule allows them", async () => {
    const policy = { rules: [rule({}, "allow")] };
    const kernel = await kernelWith(policy, { name: "three", tier: 3 }, { name: "four", tier: 4 });
    expect(names(kernel.list({ caller: "bob" }))).toEqual(["three"]);
  });

  it("leaves out what does not run in the mode", async () => {
    const kernel = await kernelWith({}, { modes: ["NORMAL"] });
    await kernel.setMode("ALERT", "A test.");
    expect(names(kernel.list({ caller: "bob" }))).toEqual([]);
  });

  it("never leaves out a tool of which a call is allowed or asked about", async () => {
    const when = fc.record(
      {
        tool: fc.constantFrom(["subject"], ["other"]),
        caller: fc.constantFrom(["bob"], ["ada"]),
        tier: fc.subarray([0, 1, 2, 3, 4] as const, { minLength: 1 }),
        effects: fc.constant(["net.read"] as const),
        capability: fc.constant(["net.read"] as const),
        version: fc.constantFrom("1.0.0", "2.x"),
        session: fc.constantFrom(["s"], ["t"]),
        arguments: fc.constantFrom([{ at: "/a", exists: true }] as const, [{ at: "/a", exists: false }] as const),
      },
      { requiredKeys: [] },
    );
    const document = fc.record({
      version: fc.constant("1" as const),
      posture: fc.constantFrom("strict", "standard", "permissive"),
      rules: fc
        .array(fc.tuple(fc.constantFrom("allow", "ask", "deny"), when), { maxLength: 4 })
        .map((rules) => rules.map(([effect, each], at) => ({ ...rule(each as never, effect), id: `rule-${at}` }))),
      grants: fc.constantFrom([], [{ tool: "*", capability }]),
    });
    const tool = fc.record({ tier: fc.constantFrom(0, 1, 2, 3, 4), needs: fc.boolean() });
    const property = fc.asyncProperty(document, tool, fc.boolean(), async (policy, { tier, needs }, hasArgument) => {
      const { name: _, ...declared } = fetcher;
      const kernel = await kernelWith(policy, { tier, ...(needs && declared) });
      const preview = await kernel.preview("subject", hasArgument ? { a: 1 } : {}, { caller: "bob", sessionId: "s" });
      if (preview.decision !== "deny") expect(names(kernel.list({ caller: "bob" }))).toEqual(["subject"]);
    });
    await fc.assert(property, { numRuns: 300 });
  });
});

describe("a listener of tools", () => {
  it("hears of each change, at once or when it holds, and of none after it stopped", async () => {
    const kernel = await createKernel({ policy: { version: "1", posture: "standard" } });
    const heard: number[] = [];
    const stop = kernel.onToolsChange(() => heard.push(kernel.list({ caller: "bob" }).length));
    kernel.registerTrusted(toolOf(() => ({}), { tier: 1 }));
    expect(heard).toEqual([1]);
    await kernel.setPolicy({ version: "1", posture: "standard", rules: [rule({ caller: ["bob"] })] });
    expect(heard).toEqual([1, 0]);
    await kernel.setPolicy({ version: "1", posture: "standard" });
    await kernel.setMode("LOCKDOWN", "A test.");
    await kernel.setMode("NORMAL", "A test.");
    expect(heard.slice(2)).toEqual([1, 0, 1]);
    const { revocationId } = await kernel.grants.revoke({ caller: "bob" }, "A test.");
    await kernel.grants.restore(revocationId, "A test.");
    await kernel.unregister("subject@1.0.0");
    expect(heard.slice(5)).toEqual([1, 1, 0]);
    stop();
    kernel.registerTrusted(toolOf(() => ({})));
    expect(heard).toHaveLength(8);
  });

  it("that throws stops neither the change nor the other listeners", async () => {
    const kernel = await createKernel({ policy: { version: "1", posture: "standard" } });
    let heard = 0;
    kernel.onToolsChange(() => {
      throw new Error("A listener.");
    });
    kernel.onToolsChange(() => heard++);
    expect(kernel.registerTrusted(toolOf(() => ({})))).toMatchObject({ ok: true });
    expect(heard).toBe(1);
  });
});
