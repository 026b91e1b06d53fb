import type { Broker, CallOptions, PolicyDocument, PolicyRule, ToolContext } from "@keyhole/kernel";
import { kvWrite } from "@keyhole/kernel/families";
import { describe, expect, it } from "vitest";
import { FakeClock, settle } from "../support/fake-clock.ts";
import { expectSoundLog, openKernel, toolOf } from "../support/kernel.ts";

// A tool can send with its next request what its session learnt while it ran: the rules about requests have to see the labels and the time of each request.

const capabilities = [
  { kind: "kv.write", keys: ["*"] },
  { kind: "tool.call", tools: ["*"] },
] as const;

/** Remembers the keys that were written. It fails once for a key that says so. */
function store(): Broker & { readonly keys: string[] } {
  const keys: string[] = [];
  return {
    keys,
    families: [kvWrite],
    needs: ({ arguments: { key } }) => ({ ok: true, needs: [{ kind: "kv.write", key: String(key), size: 1 }] }),
    serve: async ({ arguments: { key } }) => {
      const isAway = key === "flaky" && !keys.includes("flaky");
      keys.push(String(key));
      return isAway
        ? { ok: false, error: { code: "UNAVAILABLE", message: "Away.", hint: "" } }
        : { ok: true, value: null };
    },
  };
}

const noLeak: PolicyRule = { id: "no-leak", effect: "deny", when: { key: ["*"], labels: ["private"] }, reason: "No." };
const session: CallOptions = { caller: "ada", sessionId: "s" };
const denied = { ok: false, error: { code: "CAPABILITY_DENIED" } };

async function open(rule: PolicyRule = noLeak) {
  const broker = store();
  const policy: PolicyDocument = {
    version: "1",
    posture: "permissive",
    labels: { private: { tools: ["secret", "keeper"] } },
    grants: capabilities.map((capability) => ({ tool: "*", capability })),
    rules: [rule],
  };
  const bench = await openKernel({ policy, brokers: [broker] });
  const turn = { go: (): void => {} };
  const tools: Readonly<Record<string, (input: never, context: ToolContext) => unknown>> = {
    secret: () => "the secret",
    keeper: (_, { kv }) => kv.put("kept", "x"),
    asked: (_, { kv }) => kv.put("asked", "x"),
    flaky: (_, { kv }) => kv.put("flaky", "x"),
    async slow(_, { kv }) {
      await kv.put("first", "x");
      await new Promise<void>((resolve) => (turn.go = resolve));
      await kv.put("then", "x");
    },
    async outer(_, { tools: own }) {
      const told = await own.call("slow");
      if (!told.ok) throw new Error(told.error.message);
    },
    async sender({ before }: { before: boolean }, { kv, tools: own }) {
      if (before) await kv.put("before", "x");
      await kv.put(JSON.stringify(await own.call("secret")), "x");
    },
  };
  for (const [name, run] of Object.entries(tools)) {
    const execute = async (input: never, context: ToolContext): Promise<unknown> =>
      (await run(input, context)) ?? "done";
    const own = name === "secret" ? [] : capabilities;
    const approval = name === "asked" ? "always" : undefined;
    const more = { effects: ["kv.write"], determinism: "external", idempotent: true, capabilities: own, approval };
    expect(bench.kernel.registerTrusted(toolOf(execute, { name, ...more }))).toMatchObject({ ok: true });
  }
  return { ...bench, broker, turn };
}

describe("a label that reaches the session of a running call denies its next request, where it comes", () => {
  it.each([true, false])("with the answer of a call from within (after another request: %s)", async (before) => {
    const { kernel, broker } = await open();
    expect(await kernel.call("sender", { before }, session)).toMatchObject(denied);
    expect(broker.keys).toEqual(before ? ["before"] : []);
    await expectSoundLog(kernel);
  });

  it.each(["slow", "outer"])("from another call of the session (to %s)", async (name) => {
    const { kernel, broker, turn } = await open();
    const call = kernel.call(name, {}, session);
    await settle();
    await kernel.call("secret", {}, session);
    turn.go();
    expect(await call).toMatchObject({ ok: false });
    expect(broker.keys).toEqual(["first"]);
  });

  it("while the call waits for its approval", async () => {
    const { kernel, broker } = await open();
    const approver = async () => {
      await kernel.call("secret", {}, session);
      return { answer: "allow", scope: "once", approver: "ada" } as const;
    };
    expect(await kernel.call("asked", {}, { ...session, approver })).toMatchObject(denied);
    expect(broker.keys).toEqual([]);
  });

  it("between two runs of it", async () => {
    const { kernel, broker, clock } = await open();
    const call = kernel.call("flaky", {}, session);
    await settle();
    await kernel.call("secret", {}, session);
    await clock.advance(10_000);
    expect(await call).toMatchObject({ ok: false, meta: { attempts: 2 } });
    expect(broker.keys).toEqual(["flaky"]);
  });

  it("before the answer of another call, for which it waits", async () => {
    const { kernel, turn } = await open();
    const first = kernel.call("slow", {}, { caller: "ada", sessionId: "t", idempotencyKey: "k" });
    await settle();
    const second = kernel.call("slow", {}, { ...session, idempotencyKey: "k" });
    await settle();
    await kernel.call("secret", {}, session);
    turn.go();
    expect(await first).toMatchObject({ ok: true });
    expect(await second).toMatchObject({ ok: false, error: { code: "INVALID_INPUT" } });
  });

  it("but neither for another session nor for another caller", async () => {
    const { kernel, broker, turn } = await open();
    const call = kernel.call("slow", {}, session);
    await settle();
    await kernel.call("secret", {}, { ...session, sessionId: "t" });
    await kernel.call("secret", {}, { ...session, caller: "eve" });
    turn.go();
    expect(await call).toMatchObject({ ok: true });
    expect(broker.keys).toEqual(["first", "then"]);
  });
});

it("the label of its own output binds the calls after it, not the call itself", async () => {
  const { kernel, broker } = await open();
  expect(await kernel.call("keeper", {}, session)).toMatchObject({ ok: true });
  expect(await kernel.call("keeper", {}, session)).toMatchObject(denied);
  expect(broker.keys).toEqual(["kept"]);
});

it("a rule with a time denies the requests of a running call from then on", async () => {
  const after = new Date(new FakeClock().now() + 1_000).toISOString();
  const { kernel, broker, turn, clock } = await open({ ...noLeak, when: { key: ["*"], time: { after } } });
  const call = kernel.call("slow", {}, session);
  await settle();
  await clock.advance(1_000);
  turn.go();
  expect(await call).toMatchObject(denied);
  expect(broker.keys).toEqual(["first"]);
});
