import { describe, expect, it } from "vitest";
import { openKernel, openPolicy, toolOf } from "../support/kernel.ts";
import { moduleHost, packed } from "../support/module-host.ts";

describe("a stored result", () => {
  it("in the cache is not given to a caller whom the policy denies", async () => {
    const tool = toolOf(() => "result");
    const { kernel } = await openKernel({
      host: moduleHost(tool),
      policy: {
        ...openPolicy,
        rules: [{ id: "not-eve", effect: "deny", when: { caller: ["eve"] }, reason: "Not Eve." }],
      },
    });
    kernel.register(packed(tool));
    expect(await kernel.call("subject", {}, { caller: "ada" })).toMatchObject({ ok: true });
    const denied = await kernel.call("subject", {}, { caller: "eve" });
    expect(denied).toMatchObject({ ok: false, error: { code: "POLICY_DENIED" }, meta: { cached: false } });
    expect(JSON.stringify(denied)).not.toContain("result");
  });

  it("under an idempotency key is not given to its own caller after a denial", async () => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(toolOf(() => "result"));
    expect(await kernel.call("subject", {}, { caller: "eve", idempotencyKey: "k" })).toMatchObject({ ok: true });
    await kernel.setPolicy({
      version: "1",
      posture: "strict",
      rules: [{ id: "no", effect: "deny", when: { caller: ["eve"] }, reason: "No." }],
    });
    const denied = await kernel.call("subject", {}, { caller: "eve", idempotencyKey: "k" });
    expect(denied).toMatchObject({ ok: false, error: { code: "POLICY_DENIED" } });
  });

  it("in the cache needs a new approval each time", async () => {
    const tool = toolOf(() => 1, { approval: "always" });
    let questions = 0;
    const { kernel } = await openKernel({
      host: moduleHost(tool),
      approver: async () =>
        ++questions === 1 ? { answer: "allow", approver: "ada", scope: "once" } : { answer: "deny", approver: "ada" },
    });
    kernel.register(packed(tool));
    expect(await kernel.call("subject", {})).toMatchObject({ ok: true });
    expect(await kernel.call("subject", {})).toMatchObject({ ok: false, error: { code: "APPROVAL_DENIED" } });
  });

  it("is separate for callers and idempotency keys that could collide", async () => {
    let runs = 0;
    const { kernel } = await openKernel();
    kernel.registerTrusted(toolOf(() => ++runs, { determinism: "external" }));
    for (const [caller, idempotencyKey] of [
      ['a","b', "c"],
      ["a", 'b","c'],
      ["__proto__", "constructor"],
      ["a", "\ud800"],
    ] as const)
      await kernel.call("subject", {}, { caller, idempotencyKey });
    expect(runs).toBe(4);
  });
});
