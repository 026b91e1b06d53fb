import { type Broker, type DeclaredCapability, type Mode, modes, type ToolContext } from "@keyhole/kernel";
import { kvRead, kvWrite } from "@keyhole/kernel/families";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { settle } from "../support/fake-clock.ts";
import { expectSoundLog, openKernel, toolOf } from "../support/kernel.ts";

// A tool that runs when somebody pulls the brake has all that it was given: a stricter mode has to reach it where it is.

const capabilities: readonly DeclaredCapability[] = [{ kind: "kv.write", keys: ["*"] }];
const nestedCapabilities: readonly DeclaredCapability[] = [{ kind: "tool.call", tools: ["*"] }];
const grants = [...capabilities, ...nestedCapabilities].map((capability) => ({ tool: "*", capability }));

interface Served {
  readonly signal: AbortSignal;
  readonly answer: () => void;
}

/** A store that answers when it is told to. */
function slowStore(): Broker & { readonly served: Served[] } {
  const served: Served[] = [];
  return {
    served,
    families: [kvRead, kvWrite],
    needs: () => ({ ok: true, needs: [{ kind: "kv.write", key: "orders/1", size: 1 }] }),
    serve: (_, { signal }) =>
      new Promise((resolve) => served.push({ signal, answer: () => resolve({ ok: true, value: null }) })),
  };
}

async function open({ policy = {}, manifest = {} }: { policy?: object; manifest?: object } = {}) {
  const store = slowStore();
  const bench = await openKernel({
    policy: { version: "1", posture: "permissive", grants, ...policy },
    brokers: [store],
  });
  const twice = async (_: unknown, { kv }: ToolContext) => {
    await kv.put("orders/1", "x");
    await kv.put("orders/1", "y");
    return "both";
  };
  const effects = { effects: ["kv.write"], determinism: "external", capabilities };
  bench.kernel.registerTrusted(toolOf(twice, { ...effects, ...manifest }));
  const within = (_: unknown, { tools }: ToolContext) => tools.call("subject", {});
  const outer = { name: "outer", capabilities: nestedCapabilities, determinism: "external" };
  bench.kernel.registerTrusted(toolOf(within, outer));
  return { ...bench, store };
}

type Mix = Parameters<typeof open>[0];

const deny = (when: object) => ({ policy: { rules: [{ id: "brake", effect: "deny", when, reason: "Stop." }] } });

const brakes: readonly (readonly [string, Mode, Mix])[] = [
  ["LOCKDOWN, for what has effects", "LOCKDOWN", {}],
  ["DEGRADED, for tier 3", "DEGRADED", { manifest: { tier: 3 }, policy: { rules: [allowTier3()] } }],
  [
    "a mode in which the policy forbids the tool",
    "ALERT",
    { policy: { tools: { subject: { modes: { forbidden: ["ALERT"] } } } } },
  ],
  ["a mode that the manifest leaves out", "ALERT", { manifest: { modes: ["NORMAL"] } }],
  ["a mode in which a rule denies the call", "ALERT", deny({ tool: ["subject"], mode: ["ALERT"] })],
];

function allowTier3(): object {
  return { id: "trusted", effect: "allow", when: { tool: ["subject"] }, reason: "It is needed." };
}

describe("a call that runs when the kernel goes to", () => {
  it.each(brakes)("%s loses its request in flight, and makes no other", async (_, mode, mix) => {
    const { kernel, store } = await open(mix);
    const call = kernel.call("subject", {});
    await settle();
    expect(store.served).toHaveLength(1);
    await kernel.setMode(mode, "drill");
    expect(store.served[0]!.signal.aborted).toBe(true);
    store.served[0]!.answer();
    expect(await call).toMatchObject({ ok: false, error: { code: "CAPABILITY_DENIED" } });
    expect(store.served).toHaveLength(1);
    await expectSoundLog(kernel);
  });

  it("a mode in which a rule denies its requests makes no other", async () => {
    const { kernel, store } = await open(deny({ key: ["orders/"], mode: ["ALERT"] }));
    const call = kernel.call("subject", {});
    await settle();
    await kernel.setMode("ALERT", "drill");
    await kernel.setMode("NORMAL", "over");
    await kernel.setMode("ALERT", "drill");
    store.served[0]!.answer();
    await settle();
    expect(store.served).toHaveLength(1);
    expect(await call).toMatchObject({
      ok: false,
      error: { code: "CAPABILITY_DENIED", message: "Stop. (Rule brake.)" },
    });
  });

  it("a stricter one and back does not get its grants back", async () => {
    const { kernel, store } = await open();
    const call = kernel.call("subject", {});
    await settle();
    await kernel.setMode("LOCKDOWN", "drill");
    await kernel.setMode("NORMAL", "over");
    store.served[0]!.answer();
    expect(await call).toMatchObject({ ok: false, error: { code: "CAPABILITY_DENIED" } });
    expect(store.served).toHaveLength(1);
  });

  it("LOCKDOWN loses its grants also where another call made it", async () => {
    const { kernel, store } = await open();
    const call = kernel.call("outer", {});
    await settle();
    await kernel.setMode("LOCKDOWN", "drill");
    expect(store.served[0]!.signal.aborted).toBe(true);
    store.served[0]!.answer();
    await call;
    expect(store.served).toHaveLength(1);
  });

  it("a mode that denies it nothing goes on", async () => {
    const { kernel, store } = await open();
    const call = kernel.call("subject", {});
    await settle();
    await kernel.setMode("ALERT", "drill");
    for (const index of [0, 1]) {
      store.served[index]!.answer();
      await settle();
    }
    expect(await call).toMatchObject({ ok: true, data: "both" });
  });
});

it("no running call makes a request in a mode in which a new call of its tool is denied", () =>
  fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...modes),
      fc.array(fc.constantFrom(...modes), { minLength: 1, maxLength: 3 }),
      fc.constantFrom(0, 1, 2, 3),
      fc.option(fc.subarray([...modes], { minLength: 1 })),
      async (from, changes, tier, forbidden) => {
        const rules = [{ id: "all", effect: "allow", when: {}, reason: "It is needed." }];
        const tools = forbidden === null ? {} : { subject: { modes: { forbidden } } };
        const { kernel, store } = await open({ manifest: { tier }, policy: { rules, tools } });
        await kernel.setMode(from, "start");
        const approver = async () => ({ answer: "allow", scope: "once", approver: "ada" }) as const;
        const call = kernel.call("subject", {}, { approver });
        await settle();
        let wasDenied = false;
        for (const mode of changes) {
          await kernel.setMode(mode, "drill");
          wasDenied ||= (await kernel.preview("subject", {})).decision === "deny";
        }
        const before = store.served.length;
        for (const { answer } of store.served) answer();
        await settle();
        if (wasDenied) expect(store.served).toHaveLength(before);
        for (const { answer } of store.served) answer();
        const result = await call;
        if (wasDenied || before === 0) expect(result.ok).toBe(false);
      },
    ),
    { numRuns: 60 },
  ));
