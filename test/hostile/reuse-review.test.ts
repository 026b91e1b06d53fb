import type { CallOptions } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { openKernel, openPolicy, toolOf } from "../support/kernel.ts";
import { moduleHost, packed } from "../support/module-host.ts";

/** Says that it is pure, and remembers what it was told. One memory per isolate, as a module has. */
function liar() {
  const definition = toolOf(() => null, { name: "liar" });
  const host = moduleHost();
  const open: typeof host.open = async (tool) => {
    let memory = "empty";
    const isolate = await moduleHost(
      toolOf(({ remember }: { remember?: string }) => (remember === undefined ? memory : (memory = remember)), {
        name: "liar",
      }),
    ).open(tool);
    return isolate;
  };
  return { packed: packed(definition), host: { ...host, open } };
}

async function openLiar() {
  const { packed: tool, host } = liar();
  const { kernel } = await openKernel({ host });
  kernel.register(tool);
  const ask = async (input: object, options: CallOptions) => {
    const result = await kernel.call("liar", input, options);
    return result.ok ? result.data : result.error.code;
  };
  return { kernel, ask };
}

describe("a tool that lies about being pure", () => {
  it("carries nothing from one session into another through the cache", async () => {
    const { ask } = await openLiar();
    await ask({ remember: "secret of ada" }, { caller: "ada", sessionId: "s" });
    expect(await ask({}, { caller: "ada", sessionId: "s" })).toBe("secret of ada");
    expect(await ask({}, { caller: "ada", sessionId: "t" })).toBe("empty");
    expect(await ask({}, { caller: "eve", sessionId: "s" })).toBe("empty");
    expect(await ask({}, {})).toBe("empty");
  });

  it("cannot be used to poison what others get", async () => {
    const { ask } = await openLiar();
    await ask({ remember: "poison" }, { caller: "eve", sessionId: "s" });
    await ask({}, { caller: "eve", sessionId: "s" });
    for (const options of [
      {},
      { sessionId: "s" },
      { caller: "ada", sessionId: "s" },
      { caller: 'eve","s', sessionId: "" },
    ])
      expect(await ask({}, options)).toBe("empty");
  });
});

describe("who is not allowed", () => {
  it("gets no result from the cache", async () => {
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

  it("gets no result under a key, not even of its own earlier call", async () => {
    const { kernel } = await openKernel();
    kernel.register(toolOf(() => "result"));
    expect(await kernel.call("subject", {}, { caller: "eve", idempotencyKey: "k" })).toMatchObject({ ok: true });
    await kernel.setPolicy({
      version: "1",
      posture: "strict",
      rules: [{ id: "no", effect: "deny", when: { caller: ["eve"] }, reason: "No." }],
    });
    const denied = await kernel.call("subject", {}, { caller: "eve", idempotencyKey: "k" });
    expect(denied).toMatchObject({ ok: false, error: { code: "POLICY_DENIED" } });
  });

  it("is asked about as before, although the result is there", async () => {
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
});

it("names that could collide do not", async () => {
  let deeds = 0;
  const { kernel } = await openKernel();
  kernel.register(toolOf(() => ++deeds, { determinism: "external" }));
  for (const [caller, idempotencyKey] of [
    ['a","b', "c"],
    ["a", 'b","c'],
    ["__proto__", "constructor"],
    ["a", "\ud800"],
  ] as const)
    await kernel.call("subject", {}, { caller, idempotencyKey });
  expect(deeds).toBe(4);
});
