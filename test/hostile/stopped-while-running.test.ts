import type { Capability, Kernel } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { settle } from "../support/fake-clock.ts";
import { expectSoundLog, openKernel, openPolicy, toolOf } from "../support/kernel.ts";
import { moduleHost, packed } from "../support/module-host.ts";
import type { ToolContext } from "@keyhole/kernel/tool";

// The tools of an MCP server, of a page and of a bus act without a request at the gate: taking their grants stops nothing.

const write: Capability = { kind: "net.write", hosts: ["api.example.com"] };
const secret: Capability = { kind: "secret.use", names: ["key"], hosts: ["api.example.com"] };
const written = { effects: ["net.write"] };
const optional = { ...write, optional: true };

interface Given {
  readonly capabilities?: readonly Capability[];
  readonly effects?: readonly string[];
  readonly hears?: boolean;
}

/** A call that has read its data, and waits before its last act. */
async function running({ hears = true, ...manifest }: Given) {
  const grants = [write, secret].map((capability) => ({ tool: "*", capability }));
  const approver = async () => ({ answer: "allow", scope: "once", approver: "ada" }) as const;
  const rules = [{ id: "ask", effect: "ask", when: {}, reason: "Asked." }];
  const bench = await openKernel({ policy: { ...openPolicy, grants, rules }, approver });
  let acts = 0;
  const going = Promise.withResolvers<void>();
  const act = async (_: never, { signal }: { readonly signal: AbortSignal }): Promise<string> => {
    await going.promise;
    if (!hears || !signal.aborted) acts++;
    return "data";
  };
  bench.kernel.registerTrusted(
    toolOf(act, { tier: 2, determinism: "external", ...(manifest.capabilities && written), ...manifest }),
  );
  const call = bench.kernel.call("subject", {}, { caller: "ada" });
  await settle();
  return { ...bench, call, goOn: () => going.resolve(), acts: () => acts };
}

type Change = (kernel: Kernel) => Promise<unknown>;
const lockdown: Change = (kernel) => kernel.setMode("LOCKDOWN", "drill");
const revoke: Change = (kernel) => kernel.grants.revoke({ caller: "ada", kinds: ["net.write"] }, "Enough.");
const revokeSecret: Change = (kernel) => kernel.grants.revoke({ caller: "ada", kinds: ["secret.use"] }, "Enough.");
const unapprove: Change = async (kernel) => {
  const events = await kernel.audit.read();
  const asked = events.find((event) => event.type === "approval.requested");
  return kernel.approvals.revoke(asked?.type === "approval.requested" ? asked.payload.approvalId : "", "Enough.");
};

const stopped: readonly (readonly [string, Given, Change, string])[] = [
  ["in LOCKDOWN, with effects alone", { effects: ["net.write"] }, lockdown, "Mode LOCKDOWN"],
  ["in LOCKDOWN, with nothing declared", {}, lockdown, "Mode LOCKDOWN"],
  ["in LOCKDOWN, with a grant", { capabilities: [write] }, lockdown, "Mode LOCKDOWN"],
  ["without a grant that it needs", { capabilities: [write] }, revoke, "The grant for net.write was revoked: Enough."],
  ["without its approval", { capabilities: [write] }, unapprove, "Its approval was revoked."],
];

describe("a call of the kernel's own realm", () => {
  it.each(stopped)("%s is told to stop, and its result reaches nobody", async (_, given, change, why) => {
    const { kernel, call, goOn, acts } = await running(given);
    await change(kernel);
    goOn();
    const error = { code: "CAPABILITY_DENIED", message: expect.stringContaining(why), details: { reason: "revoked" } };
    expect(await call).toMatchObject({ ok: false, error });
    expect(acts()).toBe(0);
    await expectSoundLog(kernel);
  });

  it("that hears nothing of it ends after the grace of a cancellation", async () => {
    const { kernel, call, clock, goOn } = await running({ hears: false });
    await lockdown(kernel);
    await clock.advance(250);
    expect(await call).toMatchObject({ ok: false, error: { code: "CAPABILITY_DENIED" } });
    goOn();
    await expectSoundLog(kernel);
  });

  it.each([
    ["a kind that it can do without", { capabilities: [optional] }, revoke],
    ["secrets, which the gate keeps", { capabilities: [write, secret] }, revokeSecret],
    ["a kind that it lacks", {}, revoke],
    ["nothing: a milder mode came", {}, (kernel: Kernel) => kernel.setMode("ALERT", "drill")],
  ] as const)("that lost %s goes on", async (_, given, change) => {
    const { kernel, call, goOn } = await running(given);
    await change(kernel);
    goOn();
    expect(await call).toMatchObject({ ok: true, data: "data" });
  });
});

describe("a call in an isolate that has the real clock", () => {
  const revokeClock: Change = (kernel) => kernel.grants.revoke({ tool: "subject" }, "Enough.");
  const open = async (optional: boolean) => {
    const started = Date.now();
    const going = Promise.withResolvers<void>();
    const tool = toolOf(async (_: never, { now }: ToolContext) => going.promise.then(() => now() >= started), {
      determinism: "external",
      capabilities: [{ kind: "clock", ...(optional && { optional }) }],
    });
    const policy = { ...openPolicy, grants: [{ tool: "*", capability: { kind: "clock" } as const }] };
    const bench = await openKernel({ policy, host: moduleHost(tool) });
    expect(bench.kernel.register(packed(tool))).toMatchObject({ ok: true });
    return { ...bench, goOn: () => going.resolve() };
  };

  it.each([false, true])("ends where the clock is revoked (optional: %s)", async (optional) => {
    const { kernel, clock, goOn } = await open(optional);
    const call = kernel.call("subject", {});
    await settle();
    await revokeClock(kernel);
    await clock.advance(250);
    const message = expect.stringContaining("The grant for clock was revoked: Enough.");
    expect(await call).toMatchObject({ ok: false, error: { code: "CAPABILITY_DENIED", message } });
    goOn();
    await expectSoundLog(kernel);
  });

  it("runs with a logical one where it begins later", async () => {
    const { kernel, goOn } = await open(true);
    await revokeClock(kernel);
    goOn();
    expect(await kernel.call("subject", {})).toMatchObject({ ok: true, data: false });
  });
});

/** A store that waits, as one of another machine does. */
function slowContent() {
  const going = Promise.withResolvers<void>();
  return { goOn: () => going.resolve(), put: () => going.promise, get: async () => undefined, delete: async () => {} };
}

describe("a result behind the end of its run", () => {
  const keep = { tools: { subject: { keep: { output: [""] } } } };
  const open = async () => {
    const content = slowContent();
    const grants = [{ tool: "*", capability: write }];
    const bench = await openKernel({ policy: { ...openPolicy, ...keep, grants }, content });
    bench.kernel.registerTrusted(
      toolOf(() => "data", { determinism: "external", capabilities: [write], effects: ["net.write"] }),
    );
    return { ...bench, content };
  };
  it.each([
    ["in LOCKDOWN", lockdown, "Mode LOCKDOWN"],
    ["without a grant that it needed", revoke, "The grant for net.write was revoked: Enough."],
  ] as const)("reaches nobody %s", async (_, change, why) => {
    const { kernel, content } = await open();
    const call = kernel.call("subject", {}, { caller: "ada" });
    await settle();
    await change(kernel);
    content.goOn();
    const error = { code: "CAPABILITY_DENIED", message: expect.stringContaining(why), details: { reason: "revoked" } };
    expect(await call).toMatchObject({ ok: false, error });
    await expectSoundLog(kernel);
  });

  it("reaches no other call that waited for it under its key", async () => {
    const { kernel, content } = await open();
    const options = { caller: "ada", idempotencyKey: "once" };
    const calls = [kernel.call("subject", {}, options), kernel.call("subject", {}, options)];
    await settle();
    await kernel.setPolicy({ ...openPolicy, rules: [{ id: "no", effect: "deny", when: {}, reason: "No." }] });
    content.goOn();
    expect(await calls[1]).toMatchObject({ ok: false, error: { code: "POLICY_DENIED" } });
    await expectSoundLog(kernel);
  });
});
