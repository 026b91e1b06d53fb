import { type Approver, type AuditEvent, limits, verifyProofDigest } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { type FakeClock, settle } from "../support/fake-clock.ts";
import { expectSoundLog, openPolicy } from "../support/kernel.ts";
import { calling, type Context, fakeNet, leaf, openCalling, openCalls, outer, toolWith } from "../support/nested.ts";

describe("a tool that calls a tool", () => {
  it("gets a plain answer", async () => {
    const { kernel } = await openCalling([outer, leaf("inner", ({ n }: { n: number }) => ({ twice: n * 2 }))]);
    const result = await kernel.call("outer", { n: 4 });
    expect(result).toMatchObject({ ok: true, data: { ok: true, data: { twice: 8 } }, effects: [] });
    await expectSoundLog(kernel);
  });

  it("gets a failure as an answer, not as an exception", async () => {
    const boom = leaf("inner", () => {
      throw new Error("boom");
    });
    const { kernel } = await openCalling([outer, boom]);
    expect(await kernel.call("outer", {})).toMatchObject({
      ok: true,
      data: { ok: false, error: { code: "TOOL_ERROR", message: "boom" } },
    });
  });

  it("gets bytes as bytes", async () => {
    const bytes = leaf("inner", () => new Uint8Array([1, 2]), { output: { kind: "binary" } });
    const sum = calling("outer", async (_, { tools }) => {
      const answer = await tools.call("inner");
      return answer.ok && answer.bytes instanceof Uint8Array ? [...answer.bytes] : "no bytes";
    });
    const { kernel } = await openCalling([sum, bytes]);
    expect(await kernel.call("outer", {})).toMatchObject({ ok: true, data: [1, 2] });
  });

  it("passes on caller, session, correlation and trace, and its calls are on record as its own", async () => {
    const { kernel } = await openCalling([outer, leaf("inner", () => 1)]);
    const heard: string[] = [];
    const result = await kernel.call(
      "outer",
      {},
      {
        caller: "ada",
        sessionId: "s",
        correlationId: "c",
        onEvent: ({ type }) => heard.push(type),
      },
    );
    const events = await kernel.audit.read();
    const [parent, child] = events.filter(({ type }) => type === "call.invoked");
    expect(child).toMatchObject({
      sessionId: "s",
      payload: { tool: "inner@1.0.0", caller: "ada", correlationId: "c", parentCallId: result.callId },
    });
    expect(parent).toMatchObject({ payload: { parentCallId: null } });
    expect(child?.traceparent?.slice(0, 35)).toBe(parent?.traceparent?.slice(0, 35));
    expect(child?.traceparent).not.toBe(parent?.traceparent);
    const decisions = events.filter(({ type }) => type === "policy.decided");
    const proof = (decisions[1]!.payload as { proof?: { parentProofId: string } }).proof;
    expect(verifyProofDigest(proof)).toEqual({ ok: true });
    expect(proof?.parentProofId).toBe(result.proof?.proofId);
    expect(heard.filter((type) => type === "tool.completed")).toHaveLength(2);
    expect(events.find(({ type }) => type === "capability.used")).toMatchObject({
      callId: result.callId,
      payload: { kind: "tool.call", operation: "call", target: "inner", outcome: "ok" },
    });
  });

  it.each([
    ["without a declaration", { capabilities: [] }, openCalls, {}],
    ["without a grant of the policy", {}, openPolicy, {}],
    ["without a grant of its caller", {}, openCalls, { grants: [{ kind: "tool.call", tools: ["other"] }] }],
  ] as const)("is refused %s", async (_, more, policy, options) => {
    let runs = 0;
    const caught = calling(
      "outer",
      (_, { tools }) => tools.call("inner").catch(({ code }: { code: string }) => code),
      more,
    );
    const { kernel } = await openCalling([caught, leaf("inner", () => runs++)], { policy });
    const result = await kernel.call("outer", {}, options);
    if (result.ok) expect(result.data).toBe("CAPABILITY_DENIED");
    else expect(result.error.code).toBe("CAPABILITY_DENIED");
    expect(runs).toBe(0);
    await expectSoundLog(kernel);
  });

  it("is asked about like anybody: the policy decides about each call", async () => {
    const policy = {
      ...openCalls,
      rules: [{ id: "no", effect: "deny", when: { tool: ["inner"] }, reason: "Not this one." }],
    };
    const { kernel } = await openCalling([outer, leaf("inner", () => 1)], { policy });
    expect(await kernel.call("outer", {})).toMatchObject({ data: { ok: false, error: { code: "POLICY_DENIED" } } });
  });

  it("may call nothing of the world that its caller kept from it", async () => {
    const net = { kind: "net.read", hosts: ["a.example", "b.example"] } as const;
    const policy = { ...openCalls, grants: [...openCalls.grants, { tool: "inner", capability: net }] };
    const fetches = leaf("inner", async ({ url }: { url: string }, { fetch }: Context) => (await fetch(url)).status, {
      effects: ["net.read"],
      capabilities: [{ kind: "net.read", hosts: ["*"] }],
    });
    const { kernel } = await openCalling([outer, fetches], { policy, brokers: [fakeNet()] });
    const grants = [
      { kind: "tool.call", tools: ["inner"] },
      { kind: "net.read", hosts: ["a.example"] },
    ] as const;
    expect(await kernel.call("outer", { url: "https://a.example/" }, { grants })).toMatchObject({
      data: { data: 200 },
    });
    expect(await kernel.call("outer", { url: "https://b.example/" }, { grants })).toMatchObject({
      data: { ok: false, error: { code: "CAPABILITY_DENIED" } },
    });
    expect(await kernel.call("outer", { url: "https://b.example/" })).toMatchObject({ data: { data: 200 } });
  });
});

describe("the effects of a call", () => {
  const net = { kind: "net.read", hosts: ["*"] } as const;
  const policy = { ...openCalls, grants: [...openCalls.grants, { tool: "inner", capability: net }] };
  const fetches = leaf("inner", async (_: never, { fetch }: Context) => (await fetch("https://a.example/")).status, {
    effects: ["net.read"],
    capabilities: [net],
  });
  const failing = calling("failing", async (_, { tools }) => {
    await tools.call("inner");
    throw new Error("later");
  });
  const around = calling("around", (_, { tools }) => tools.call("failing"));

  it.each(["inner", "failing", "around"])("are also those of the calls within: %s", async (name) => {
    const ends: unknown[] = [];
    const { kernel } = await openCalling([fetches, failing, around], { policy, brokers: [fakeNet()] });
    const onEvent = ({ payload }: AuditEvent): void => {
      if ("effects" in payload) ends.push(payload.effects);
    };
    const { effects, meta } = await kernel.call(name, {}, { onEvent });
    expect([effects, meta.networkRequests, meta.networkBytes]).toEqual([["net.read"], 1, 10]);
    expect(ends.length).toBeGreaterThan(0);
    for (const end of ends) expect(end).toEqual(["net.read"]);
    await expectSoundLog(kernel);
  });

  it("are there when the call ends before the one within", async () => {
    const open = Promise.withResolvers<never>();
    const broker = { ...fakeNet(), serve: () => open.promise };
    const short = calling("failing", (_, { tools }) => tools.call("inner"), { bounds: { timeoutMs: 10 } });
    const { kernel, clock } = await openCalling([fetches, short], { policy, brokers: [broker] });
    const call = kernel.call("failing", {});
    await settle();
    await clock.advance(10);
    open.reject(new Error("late"));
    expect(await call).toMatchObject({ error: { code: "TIMEOUT" }, effects: ["net.read"] });
    await expectSoundLog(kernel);
  });
});

describe("an approval within", () => {
  const asked = leaf("inner", () => "done", { approval: "always" });
  const slowYes = (clock: FakeClock, afterMs: number) => () =>
    new Promise((resolve) => clock.after(afterMs, () => resolve({ answer: "allow", approver: "ada", scope: "once" })));

  it("takes its time: the deadline of the call around it stands still meanwhile", async () => {
    const short = toolWith(outer, { bounds: { timeoutMs: 100 } });
    const { kernel, clock } = await openCalling([short, asked]);
    const call = kernel.call("outer", {}, { nestedApprover: slowYes(clock, 60_000) as never });
    await settle();
    await clock.advance(60_000);
    expect(await call).toMatchObject({ ok: true, data: { ok: true, data: "done" } });
    await expectSoundLog(kernel);
  });

  it("does not stretch the time that the tool itself takes", async () => {
    const lazy = calling(
      "outer",
      async (input, { tools }) => {
        await tools.call("inner", input);
        return new Promise(() => {});
      },
      { bounds: { timeoutMs: 100 } },
    );
    const { kernel, clock } = await openCalling([lazy, asked]);
    const call = kernel.call("outer", {}, { nestedApprover: slowYes(clock, 5_000) as never });
    await settle();
    await clock.advance(5_000);
    await settle();
    await clock.advance(100);
    expect(await call).toMatchObject({ ok: false, error: { code: "TIMEOUT" }, meta: { durationMs: 5_100 } });
  });

  it("is bounded in all: a tool cannot hold its caller with one question after the other", async () => {
    const asks = calling("outer", async (_, { tools }) => {
      for (let i = 0; ; i++) await tools.call("inner", { i });
    });
    const { kernel, clock } = await openCalling([toolWith(asks, { bounds: { timeoutMs: 1_000 } }), asked]);
    const call = kernel.call("outer", {}, { nestedApprover: () => new Promise(() => {}) });
    for (let i = 0; i < 10; i++) {
      await clock.advance(limits.approvalMs);
      await settle();
    }
    const result = await call;
    expect(result).toMatchObject({ ok: false, error: { code: "TIMEOUT" } });
    expect(result.meta.durationMs).toBe(limits.nestedPauseMs + 1_000);
    await expectSoundLog(kernel);
  });

  it("that is revoked ends the call around it with its grants, and so its calls", async () => {
    const { kernel } = await openCalling([
      toolWith(outer, { approval: "always" }),
      leaf("inner", () => new Promise(() => {})),
    ]);
    const approver = async () => ({ answer: "allow", approver: "ada", scope: "session" }) as const;
    const call = kernel.call("outer", {}, { approver, sessionId: "s" });
    await settle();
    await settle();
    const [standing] = kernel.approvals.list();
    expect(await kernel.approvals.revoke(standing!.approvalId, "changed my mind")).toBe(true);
    expect(await call).toMatchObject({ ok: false, error: { code: "CAPABILITY_DENIED" } });
    await expectSoundLog(kernel);
  });
});

describe("the approver of a call", () => {
  const answering = (approver: string, asked: string[]): Approver => {
    return async ({ tool }) => {
      asked.push(`${approver} ${tool.split("@")[0]}`);
      return { answer: "allow", approver, scope: "once" };
    };
  };
  const askedLeaf = leaf("inner", () => "done", { approval: "always" });
  const askedOuter = toolWith(outer, { approval: "always" });
  const outermost = toolWith(
    calling("outermost", (input, { tools }) => tools.call("outer", input)),
    { approval: "always" },
  );
  const call = { approver: "call" } as const;
  const both = { approver: "call", nestedApprover: "nested" } as const;
  const denied = { ok: false, error: { code: "APPROVAL_DENIED" } };
  const done = { ok: true, data: "done" };

  it.each([
    ["outer", call, undefined, ["call outer"], denied],
    ["outer", call, "kernel", ["call outer", "kernel inner"], done],
    ["outermost", call, undefined, ["call outermost"], denied],
    ["outermost", call, "kernel", ["call outermost", "kernel outer", "kernel inner"], { ok: true, data: done }],
    ["outer", both, undefined, ["call outer", "nested inner"], done],
    ["outer", both, "kernel", ["call outer", "nested inner"], done],
    ["outermost", both, "kernel", ["call outermost", "nested outer", "nested inner"], { ok: true, data: done }],
    ["outer", { nestedApprover: "nested" }, "kernel", ["kernel outer", "nested inner"], done],
  ] as const)("of %s with %o and the kernel's %s is asked %j", async (tool, given, own, expected, data) => {
    const asked: string[] = [];
    const options = own ? { approver: answering(own, asked) } : {};
    const { kernel } = await openCalling([askedLeaf, askedOuter, outermost], options);
    const approvers = Object.entries(given).map(([option, name]) => [option, answering(name, asked)]);
    const result = await kernel.call(tool, {}, Object.fromEntries(approvers));
    expect(asked).toEqual(expected);
    expect(result).toMatchObject({ ok: true, data });
    await expectSoundLog(kernel);
  });

  it("is no approver of calls within: the refusal says so", async () => {
    const { kernel } = await openCalling([outer, askedLeaf]);
    const result = await kernel.call("outer", {}, { approver: answering("call", []) });
    expect(result).toMatchObject({ data: { error: { hint: expect.stringContaining("for that call alone") } } });
  });
});
