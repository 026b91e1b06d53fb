import {
  type Broker,
  type CapabilityReply,
  type DeclaredCapability,
  type ToolContext,
  verifyProofDigest,
} from "@keyhole/kernel";
import { kvRead, kvWrite, netRead } from "@keyhole/kernel/families";
import { explain } from "@keyhole/kernel/policy";
import { secretKeeper } from "@keyhole/kernel/secrets";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type HeldGrant, type RevocationMatch, Revocations } from "../../packages/kernel/src/capability/revocation.ts";
import { applyAll } from "../../packages/kernel/src/state/change.ts";
import { settle } from "../support/fake-clock.ts";
import { expectSoundLog, openKernel, toolOf } from "../support/kernel.ts";

const capabilities: readonly DeclaredCapability[] = [
  { kind: "kv.read", keys: ["*"] },
  { kind: "kv.write", keys: ["*"], optional: true },
];
const policy = {
  version: "1",
  posture: "permissive",
  grants: capabilities.map(({ optional: _, ...capability }) => ({ tool: "*", capability })),
};

interface Pending {
  readonly kind: string;
  readonly signal: AbortSignal;
  readonly answer: () => void;
}

/** A world that answers when it is told to. */
function slowBroker(): Broker & { readonly pending: Pending[] } {
  const pending: Pending[] = [];
  return {
    pending,
    families: [kvRead, kvWrite],
    needs: ({ kind }) => ({ ok: true, needs: [{ kind: kind as "kv.read", key: "a" }] }),
    serve: ({ kind }, { signal }) =>
      new Promise<CapabilityReply>((resolve) => {
        const answer = (): void =>
          resolve({ ok: true, value: { found: true }, body: new TextEncoder().encode("data") });
        pending.push({ kind, signal, answer });
      }),
  };
}

async function open() {
  const broker = slowBroker();
  const bench = await openKernel({ policy, brokers: [broker] });
  const more = { capabilities, effects: ["kv.read", "kv.write"], determinism: "external" };
  const read = async (_: unknown, { kv }: ToolContext) => new TextDecoder().decode(await kv.get("a"));
  bench.kernel.registerTrusted(toolOf(read, more));
  bench.kernel.registerTrusted(
    toolOf((_, { kv }: ToolContext) => kv.put("a", "x").then(() => 1), { ...more, name: "writer" }),
  );
  return { ...bench, broker };
}

const denied = {
  ok: false,
  error: { code: "CAPABILITY_DENIED", message: expect.stringContaining("was revoked: Enough.") },
};

describe("a grant that is revoked", () => {
  it.each([
    { caller: "ada" },
    { sessionId: "s" },
    { tool: "subject" },
    { caller: "ada", sessionId: "s", tool: "subject" },
  ])("for %j ends a request in flight, and its answer reaches nobody", async (match) => {
    const { kernel, broker } = await open();
    const call = kernel.call("subject", {}, { caller: "ada", sessionId: "s" });
    await settle();
    expect(await kernel.grants.revoke(match, "Enough.")).toMatchObject({ calls: 1 });
    expect(broker.pending[0]!.signal.aborted).toBe(true);
    broker.pending[0]!.answer();
    expect(await call).toMatchObject({ ...denied, effects: ["kv.read"] });
    await expectSoundLog(kernel);
  });

  it("for secrets ends the requests that carry one, and no other", async () => {
    const pending: { readonly url: string; readonly signal: AbortSignal; readonly answer: () => void }[] = [];
    const net: Broker = {
      families: [netRead],
      needs: () => ({
        ok: true,
        needs: [{ kind: "net.read", method: "GET", host: "api.example", isPublic: true, port: 443, path: "/" }],
      }),
      async serve({ arguments: { url } }, { secrets, signal }) {
        const revealed = await secrets.reveal(String(url), "api.example");
        if (!revealed.ok) return revealed;
        return new Promise<CapabilityReply>((resolve) => {
          const value = { url: "https://api.example/", status: 200, headers: [] };
          pending.push({ url: revealed.value, signal, answer: () => resolve({ ok: true, value }) });
        });
      },
    };
    const wanted = [
      { kind: "net.read", hosts: ["api.example"] },
      { kind: "secret.use", names: ["key"], hosts: ["api.example"] },
    ] as const;
    const { kernel, events } = await openKernel({
      policy: { ...policy, grants: wanted.map((capability) => ({ tool: "*", capability })) },
      brokers: [net],
      secrets: secretKeeper({ get: () => "the value of it" }),
    });
    const asked = async (_: unknown, { fetch, secret }: ToolContext) => {
      const all = [fetch("https://api.example/plain"), fetch(`https://api.example/?key=${secret("key")}`)];
      return (await Promise.allSettled(all)).map((each) =>
        each.status === "fulfilled" ? "ok" : (each.reason as { readonly message: string }).message,
      );
    };
    kernel.registerTrusted(toolOf(asked, { capabilities: wanted, effects: ["net.read"], determinism: "external" }));
    const call = kernel.call("subject", {}, { caller: "ada" });
    await settle();
    expect(pending.map(({ url }) => url.includes("the value of it"))).toEqual([false, true]);

    await kernel.grants.revoke({ caller: "ada", kinds: ["secret.use"] }, "Enough.");
    expect(pending.map(({ signal }) => signal.aborted)).toEqual([false, true]);
    for (const { answer } of pending) answer();
    const data = ["ok", "The grant for secret.use was revoked: Enough."];
    expect(await call).toMatchObject({ ok: true, data });
    const uses = (await events()).flatMap(({ type, payload }) =>
      type === "capability.used" ? `${payload.kind} ${payload.outcome}` : [],
    );
    expect(uses.toSorted()).toEqual(["net.read ok", "net.read refused", "secret.use ok"]);
    await expectSoundLog(kernel);
  });

  it("for one call is gone for that call", async () => {
    const { kernel, broker, events } = await open();
    const calls = [kernel.call("subject", {}), kernel.call("subject", {})];
    await settle();
    const started = (await events()).filter(({ type }) => type === "tool.started");
    await kernel.grants.revoke({ callId: started[0]!.callId! }, "Enough.");
    for (const { answer } of broker.pending) answer();
    expect(await calls[0]).toMatchObject(denied);
    expect(await calls[1]).toMatchObject({ ok: true, data: "data" });
  });

  it("does not touch other callers, other tools, other kinds", async () => {
    const { kernel, broker } = await open();
    const call = kernel.call("subject", {}, { caller: "ada" });
    await settle();
    for (const match of [{ caller: "grace" }, { tool: "other" }, { caller: "ada", kinds: ["kv.write"] }] as const)
      await kernel.grants.revoke(match, "Enough.");
    expect(broker.pending[0]!.signal.aborted).toBe(false);
    broker.pending[0]!.answer();
    expect(await call).toMatchObject({ ok: true, data: "data" });
  });

  it("stops calls that begin later, with a proof, until it is restored", async () => {
    const { kernel, broker } = await open();
    const { revocationId } = await kernel.grants.revoke({ caller: "ada", kinds: ["kv.read"] }, "Enough.");
    expect(kernel.grants.list()).toMatchObject([{ revocationId, reason: "Enough." }]);
    const result = await kernel.call("subject", {}, { caller: "ada" });
    expect(result).toMatchObject({ ...denied, proof: { decision: "deny", reasonCode: "revoked" } });
    expect(verifyProofDigest(result.proof)).toEqual({ ok: true });
    expect(explain(result.proof!).summary).toContain("revoked");
    expect(broker.pending).toEqual([]);
    expect(await kernel.grants.restore(revocationId, "Fine again.")).toBe(true);
    expect(await kernel.grants.restore(revocationId, "Fine again.")).toBe(false);
    const again = kernel.call("subject", {}, { caller: "ada" });
    await settle();
    broker.pending[0]!.answer();
    expect(await again).toMatchObject({ ok: true });
  });

  it("that a tool can do without lets the call begin, and refuses the request", async () => {
    const { kernel, broker } = await open();
    await kernel.grants.revoke({ tool: "writer", kinds: ["kv.write"] }, "Enough.");
    expect(await kernel.call("writer", {})).toMatchObject(denied);
    expect(broker.pending).toEqual([]);
  });

  it("is on record, as is its return", async () => {
    const { kernel, events } = await open();
    const { revocationId } = await kernel.grants.revoke({ caller: "ada", kinds: ["kv.read"] }, "Enough.");
    await kernel.grants.restore(revocationId, "Fine again.");
    const record = { revocationId, match: { caller: "ada", kinds: ["kv.read"] }, reason: "Enough.", calls: 0 };
    expect((await events()).slice(-2).map(({ type, payload }) => [type, payload])).toEqual([
      ["grant.revoked", record],
      ["grant.restored", { revocationId, reason: "Fine again." }],
    ]);
  });

  it("races with requests: none is served after it holds", async () => {
    const { kernel, broker } = await open();
    const calls = Array.from({ length: 200 }, (_, index) =>
      kernel.call("subject", {}, { caller: index % 2 === 0 ? "ada" : "grace", sessionId: `s${index}` }),
    );
    const revoking = kernel.grants.revoke({ caller: "ada" }, "Enough.");
    for (await settle(); broker.pending.length > 0; await settle())
      for (const { answer } of broker.pending.splice(0)) answer();
    await revoking;
    for (const [index, call] of calls.entries()) {
      const result = await call;
      if (index % 2 === 0) expect(result.ok).toBe(false);
      else if (!result.ok) expect(result.error.code).toBe("RATE_LIMITED");
    }
    await expectSoundLog(kernel);
  });

  it.each([
    {},
    { kinds: ["kv.read"] },
    { caller: 1 },
    { caller: "ada", kinds: [] },
    { caller: "ada", kinds: ["kv.*"] },
  ])("for %j is a bug of the program", async (match) => {
    const { kernel } = await open();
    await expect(kernel.grants.revoke(match as object, "x")).rejects.toThrow(TypeError);
    expect(kernel.grants.list()).toEqual([]);
  });
});

describe("the tree of grants", () => {
  const holder = (callId: string, parentCallId?: string, caller = "ada") =>
    ({ callId, caller, sessionId: "s", tool: "t", parentCallId }) as const;

  const revokeIn = (revocations: Revocations, revocationId: string, match: RevocationMatch): number => {
    const { calls, changes, takeGrants } = revocations.revoke({ revocationId, match, reason: "x" });
    applyAll(changes);
    takeGrants();
    return calls;
  };

  it("takes children and grandchildren with their parent, and never a parent with its child", () => {
    const revocations = new Revocations();
    const root = revocations.track(holder("root"));
    const child = revocations.track(holder("child", "root", "grace"));
    const grandchild = revocations.track(holder("grandchild", "child", "eve"));
    expect(revokeIn(revocations, "1", { caller: "grace" })).toBe(2);
    expect([root, child, grandchild].map((each) => each.refusal("kv.read"))).toEqual([undefined, "x", "x"]);
    expect(revocations.reasonFor(holder("later", "child", "bob"), "kv.read")).toBe("x");
    expect(revocations.reasonFor(holder("later", "root", "bob"), "kv.read")).toBeUndefined();
  });

  it("holds a child to what its parent lost, also after the parent's end", () => {
    const revocations = new Revocations();
    const parent = revocations.track(holder("parent"));
    revokeIn(revocations, "1", { callId: "parent" });
    const child = revocations.track(holder("child", "parent"));
    parent.end();
    expect(child.refusal("clock")).toBe("x");
  });

  it("for any tree and any revocations: what a parent lost, no call below it has", () => {
    const names = ["a", "b", "c"];
    const node = fc.record({
      parent: fc.nat(20),
      caller: fc.constantFrom(...names),
      revoke: fc.constantFrom(...names, ""),
    });
    fc.assert(
      fc.property(fc.array(node, { minLength: 1, maxLength: 20 }), (nodes) => {
        const revocations = new Revocations();
        const held: { readonly grant: HeldGrant; readonly parent: number | undefined }[] = [];
        for (const [index, { parent, caller, revoke }] of nodes.entries()) {
          const above = index === 0 ? undefined : parent % index;
          const parentCallId = above === undefined ? undefined : String(above);
          held.push({ grant: revocations.track(holder(String(index), parentCallId, caller)), parent: above });
          if (revoke !== "") revokeIn(revocations, String(index), { caller: revoke });
        }
        for (const { grant, parent } of held)
          if (parent !== undefined && held[parent]!.grant.refusal("kv.read") !== undefined)
            expect(grant.refusal("kv.read")).toBe("x");
        for (const { grant } of held) grant.end();
        expect(revocations.open).toBe(0);
      }),
    );
  });
});

describe("a call within a call", () => {
  it("loses its grants with its parent's, requests in flight included", async () => {
    const { kernel, broker } = await open();
    const grants = [...policy.grants, { tool: "*", capability: { kind: "tool.call", tools: ["subject"] } }];
    await kernel.setPolicy({ ...policy, grants });
    const outer = toolOf((_, { tools }: ToolContext) => tools.call("subject", {}), {
      name: "outer",
      capabilities: [...capabilities, { kind: "tool.call", tools: ["subject"] }],
      effects: ["kv.read", "kv.write"],
      determinism: "external",
    });
    expect(kernel.registerTrusted(outer)).toMatchObject({ ok: true });
    const call = kernel.call("outer", {}, { caller: "ada" });
    await settle();
    expect(broker.pending).toHaveLength(1);
    expect(await kernel.grants.revoke({ tool: "outer" }, "Enough.")).toMatchObject({ calls: 2 });
    expect(broker.pending[0]!.signal.aborted).toBe(true);
    broker.pending[0]!.answer();
    expect(await call).toMatchObject({ ok: false, error: { code: "CAPABILITY_DENIED" } });
  });
});
