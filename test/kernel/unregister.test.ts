import { type CallResult, createKernel, terminalTypes, verifyChain } from "@keyhole/kernel";
import { verifyAudit } from "@keyhole/kernel/audit";
import { callSuspender } from "@keyhole/kernel/suspend";
import { describe, expect, it } from "vitest";
import { expectSoundLog, openKernel, toolOf } from "../support/kernel.ts";
import { moduleHost, packed } from "../support/module-host.ts";

const saying = (text: string, more: object = {}) => toolOf(() => text, { output: { kind: "text" }, ...more });

/** A tool that runs until it is told how to end. */
function waiting(more: object = {}) {
  const { promise, resolve } = Promise.withResolvers<string>();
  return { tool: toolOf(() => promise, { output: { kind: "text" }, ...more }), end: resolve };
}

const codeOf = (result: CallResult): string => (result.ok ? "ok" : result.error.code);

describe("a tool that is unregistered", () => {
  it("is gone at once, for calls, lists, health and previews, and on record", async () => {
    const { kernel, events } = await openKernel();
    kernel.registerTrusted(saying("old"));
    const { hash } = kernel.list()[0]!;
    const leaving = kernel.unregister("subject@1.0.0");
    expect(kernel.list()).toEqual([]);
    expect(await kernel.call("subject", {})).toMatchObject({ error: { code: "TOOL_NOT_FOUND" } });
    expect(await kernel.preview("subject", {})).toMatchObject({ error: { code: "TOOL_NOT_FOUND" } });
    expect(await kernel.health("subject")).toMatchObject({ state: "unchecked" });
    expect(await leaving).toBe(true);
    const log = await events();
    expect(log.filter(({ type }) => type === "tool.unregistered")).toMatchObject([
      { callId: null, payload: { tool: "subject@1.0.0", toolHash: hash } },
    ]);
    expect(verifyChain(log)).toMatchObject({ ok: true });
    expect(await verifyAudit(log)).toMatchObject({ verdict: "unvouched", events: log.length });
  });

  it("leaves its other versions, and every other tool", async () => {
    const { kernel } = await openKernel();
    for (const version of ["1.0.0", "1.1.0", "2.0.0"]) kernel.registerTrusted(saying(version, { version }));
    kernel.registerTrusted(saying("other", { name: "other" }));
    expect(await kernel.unregister("subject@2.0.0")).toBe(true);
    expect(await kernel.call("subject", {})).toMatchObject({ data: "1.1.0" });
    expect(await kernel.call("subject", {}, { version: "2.x" })).toMatchObject({ error: { code: "TOOL_NOT_FOUND" } });
    expect(await kernel.call("other", {})).toMatchObject({ data: "other" });
  });

  it.each(["subject", "subject@1.0.1", "subject@1.0.0 ", "", "@", "__proto__", "constructor@1.0.0"])(
    "has to be named by its id: %j names none",
    async (id) => {
      const { kernel, events } = await openKernel();
      kernel.registerTrusted(saying("here"));
      expect(await kernel.unregister(id)).toBe(false);
      expect(await kernel.call("subject", {})).toMatchObject({ data: "here" });
      expect((await events()).some(({ type }) => type === "tool.unregistered")).toBe(false);
    },
  );

  it("can be registered again, once for each time that it went", async () => {
    const { kernel, events } = await openKernel();
    for (let i = 0; i < 3; i++) {
      expect(kernel.registerTrusted(saying(`turn ${i}`))).toMatchObject({ ok: true });
      expect(kernel.registerTrusted(saying("twice"))).toMatchObject({ error: { code: "ALREADY_REGISTERED" } });
      expect(await kernel.call("subject", {})).toMatchObject({ data: `turn ${i}` });
      expect(await kernel.unregister("subject@1.0.0")).toBe(true);
      expect(await kernel.unregister("subject@1.0.0")).toBe(false);
    }
    const types = (await events())
      .map(({ type }) => type)
      .filter((type) => type.startsWith("tool.") && type.endsWith("registered"));
    expect(types).toEqual(Array.from({ length: 3 }, () => ["tool.registered", "tool.unregistered"]).flat());
  });
});

describe("calls of a tool that is unregistered", () => {
  it("that run finish, and their isolates end with them", async () => {
    const { kernel } = await openKernel();
    const { tool, end } = waiting();
    kernel.registerTrusted(tool);
    const running = kernel.call("subject", {}, { sessionId: "s" });
    await kernel.unregister("subject@1.0.0");
    kernel.registerTrusted(saying("new"));
    expect(await kernel.call("subject", {}, { sessionId: "s" })).toMatchObject({ data: "new" });
    end("finished");
    expect(await running).toMatchObject({ ok: true, data: "finished" });
    expect(await kernel.call("subject", {}, { sessionId: "s" })).toMatchObject({ data: "new" });
    await expectSoundLog(kernel);
  });

  it("have no isolate after them: an idle one ends at once, one in use with its last call", async () => {
    const { tool, end } = waiting({ determinism: "external" });
    const host = moduleHost(tool);
    const { kernel, events } = await openKernel({ host });
    const pkg = packed(tool);
    kernel.register(pkg);
    const calls = [1, 2].map(() => kernel.call("subject", {}, { sessionId: "shared" }));
    const started = async () => (await events()).filter(({ type }) => type === "tool.started").length;
    await expect.poll(started).toBe(2);
    expect(host.opened).toHaveLength(1);
    await kernel.unregister("subject@1.0.0");
    expect(host.opened[0]?.terminated).toBeUndefined();
    end("finished");
    expect((await Promise.all(calls)).map(codeOf)).toEqual(["ok", "ok"]);
    await expect.poll(() => host.opened[0]?.terminated).toBe("it serves one call");
    kernel.register(pkg);
    expect(codeOf(await kernel.call("subject", {}, { sessionId: "shared" }))).toBe("ok");
    expect(host.opened).toHaveLength(2);
    await kernel.unregister("subject@1.0.0");
    await expect.poll(() => host.opened[1]?.terminated).toBe("its tool was unregistered");
  });

  it("that wait for an answer never start, whatever the answer is, and nothing stands after it", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { kernel, events } = await openKernel({
      policy: { version: "1", posture: "standard" },
      approver: async () => {
        await promise;
        return { answer: "allow", scope: "session", approver: "eve" };
      },
    });
    kernel.registerTrusted(saying("old", { tier: 2 }));
    const asked = kernel.call("subject", {}, { sessionId: "s" });
    await kernel.unregister("subject@1.0.0");
    kernel.registerTrusted(saying("new", { tier: 2 }));
    resolve();
    expect(await asked).toMatchObject({ error: { code: "TOOL_NOT_FOUND", retryable: false } });
    expect(kernel.approvals.list()).toEqual([]);
    expect((await events()).some(({ type }) => type === "tool.started")).toBe(false);
  });

  it("that wait for a slot never start", async () => {
    const { kernel } = await openKernel();
    const { tool, end } = waiting({ bounds: { concurrency: 1 } });
    kernel.registerTrusted(tool);
    const running = kernel.call("subject", {});
    const queued = kernel.call("subject", {});
    await kernel.unregister("subject@1.0.0");
    end("finished");
    expect([codeOf(await running), codeOf(await queued)]).toEqual(["ok", "TOOL_NOT_FOUND"]);
    await expectSoundLog(kernel);
  });

  it("end with the kernel, also in isolates that serve nobody else", async () => {
    const { kernel, clock } = await openKernel();
    const { tool } = waiting();
    kernel.registerTrusted(tool);
    const running = kernel.call("subject", {});
    await clock.advance(1);
    await kernel.unregister("subject@1.0.0");
    await kernel.close();
    expect(codeOf(await running)).toBe("ISOLATE_LOST");
  });

  it("that are suspended are refused when they are resumed, and go on once the same package is back", async () => {
    const options = {
      policy: { version: "1", posture: "standard" },
      suspender: callSuspender({ key: new Uint8Array(32) }),
      approver: () => new Promise<never>(() => {}),
    } as const;
    const kernel = await createKernel(options);
    kernel.registerTrusted(saying("old", { tier: 2 }));
    let callId = "";
    const asked = kernel.call("subject", {}, { onEvent: (event) => void (callId ||= event.callId ?? "") });
    await expect.poll(() => callId).not.toBe("");
    const suspension = await kernel.suspend(callId);
    expect(codeOf(await asked)).toBe("SUSPENDED");
    const bytes = suspension.ok ? suspension.bytes : expect.unreachable(suspension.error.message);
    await kernel.unregister("subject@1.0.0");
    const resumed = () =>
      kernel.resume(bytes, { approver: async () => ({ answer: "allow", scope: "once", approver: "eve" }) });
    expect(await resumed()).toMatchObject({ error: { code: "SNAPSHOT_REFUSED", details: { reason: "other-tool" } } });
    kernel.registerTrusted(saying("old", { tier: 2, description: "Another one." }));
    expect(await resumed()).toMatchObject({ error: { code: "SNAPSHOT_REFUSED", details: { reason: "other-tool" } } });
    await kernel.unregister("subject@1.0.0");
    kernel.registerTrusted(saying("old", { tier: 2 }));
    expect(await resumed()).toMatchObject({ ok: true, data: "old" });
  });
});

describe("nothing of a tool goes over to the next one of its name", () => {
  it("no isolate, though a tool object of the same manifest has the same hash", async () => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(saying("old"));
    const session = { caller: "ada", sessionId: "s" };
    expect(await kernel.call("subject", {}, session)).toMatchObject({ data: "old" });
    const [before] = kernel.list();
    await kernel.unregister("subject@1.0.0");
    kernel.registerTrusted(saying("new"));
    expect(kernel.list()[0]).toEqual(before);
    expect(await kernel.call("subject", {}, session)).toMatchObject({ data: "new" });
  });

  it("no standing approval", async () => {
    let questions = 0;
    const { kernel } = await openKernel({
      policy: { version: "1", posture: "standard" },
      approver: async () => {
        questions++;
        return { answer: "allow", scope: "session", approver: "eve" };
      },
    });
    const session = { caller: "ada", sessionId: "s" };
    kernel.registerTrusted(saying("old", { tier: 2 }));
    kernel.registerTrusted(saying("other", { tier: 2, name: "other" }));
    for (const name of ["subject", "subject", "other"]) await kernel.call(name, {}, session);
    expect(questions).toBe(2);
    await kernel.unregister("subject@1.0.0");
    expect(kernel.approvals.list().map(({ tool }) => tool)).toEqual(["other@1.0.0"]);
    kernel.registerTrusted(saying("new", { tier: 2 }));
    await kernel.call("subject", {}, session);
    expect(questions).toBe(3);
    await kernel.call("other", {}, session);
    expect(questions).toBe(3);
  });

  it("no result under an idempotency key, and the deed is not done again either", async () => {
    let runs = 0;
    const { kernel } = await openKernel();
    const options = { caller: "ada", idempotencyKey: "pay 1" };
    kernel.registerTrusted(toolOf(() => ++runs));
    const { tool, end } = waiting({ name: "slow" });
    kernel.registerTrusted(tool);
    expect(await kernel.call("subject", {}, options)).toMatchObject({ data: 1 });
    const running = kernel.call("slow", {}, { ...options, idempotencyKey: "slow 1" });
    await kernel.unregister("subject@1.0.0");
    await kernel.unregister("slow@1.0.0");
    end("finished");
    expect(await running).toMatchObject({ ok: true });
    kernel.registerTrusted(toolOf(() => ++runs, { description: "Another one." }));
    kernel.registerTrusted(saying("another", { name: "slow" }));
    for (const [name, key] of [
      ["subject", "pay 1"],
      ["slow", "slow 1"],
    ] as const)
      expect(await kernel.call(name, {}, { ...options, idempotencyKey: key })).toMatchObject({
        error: { code: "INVALID_INPUT", details: [{ keyword: "idempotencyKey", reason: "outcome-unknown" }] },
      });
    expect(runs).toBe(1);
  });

  it("no result of a pure tool", async () => {
    const tool = toolOf(() => "pure", { determinism: "pure", output: { kind: "text" } });
    const { kernel } = await openKernel({ host: moduleHost(tool) });
    for (const code of ["export default 1;", "export default 2;"]) {
      expect(kernel.register(packed(tool, code))).toMatchObject({ ok: true });
      expect(await kernel.call("subject", {})).toMatchObject({ ok: true, meta: { cached: false } });
      expect(await kernel.call("subject", {})).toMatchObject({ ok: true, meta: { cached: true } });
      expect(await kernel.unregister("subject@1.0.0")).toBe(true);
    }
  });

  it("but what bounds it: rates, and a quarantine", async () => {
    const { kernel } = await openKernel();
    const bounds = { callsPerHour: 1 };
    kernel.registerTrusted(saying("old", { bounds }));
    expect(codeOf(await kernel.call("subject", {}))).toBe("ok");
    await kernel.unregister("subject@1.0.0");
    kernel.registerTrusted(saying("old", { bounds }));
    expect(codeOf(await kernel.call("subject", {}))).toBe("RATE_LIMITED");
  });
});

/** Random sequences: what is called is always what is registered. */
it("whatever is registered, called and unregistered in turn, a call gets the tool of its time", async () => {
  const { kernel } = await openKernel();
  let version = 0;
  let here: string | undefined;
  const open: { readonly expected: string; readonly call: Promise<CallResult>; readonly end: () => void }[] = [];
  for (let step = 0; step < 200; step++) {
    const move = (step * 7919) % 5;
    if (move < 2 && here === undefined) {
      const text = `v${++version}`;
      const { promise, resolve } = Promise.withResolvers<void>();
      const tool = toolOf(
        async ({ wait }: { wait?: boolean }) => {
          if (wait) await promise;
          return text;
        },
        { output: { kind: "text" }, bounds: { concurrency: 64 } },
      );
      expect(kernel.registerTrusted(tool)).toMatchObject({ ok: true });
      // Of a caller of its own: one alone has half of the slots.
      const call = kernel.call("subject", { wait: true }, { caller: text });
      open.push({ expected: text, call, end: resolve });
      here = text;
    } else if (move === 2 && here !== undefined) {
      expect(await kernel.unregister("subject@1.0.0")).toBe(true);
      here = undefined;
    } else {
      const result = await kernel.call("subject", {}, { sessionId: "s" });
      expect(result.ok ? result.data : result.error.code).toBe(here ?? "TOOL_NOT_FOUND");
    }
  }
  for (const { expected, call, end } of open) {
    end();
    expect(await call).toMatchObject({ ok: true, data: expected });
  }
  const log = await kernel.audit.read();
  expect(log.filter(({ type }) => terminalTypes.includes(type)).length).toBeGreaterThan(50);
});
