import { type ApprovalRequest, type Approver, type IsolateHost, memorySink } from "@keyhole/kernel";
import { interpreterHost } from "@keyhole/worker-host/wasm";
import { describe, expect, it } from "vitest";
import { expectSoundLog } from "../support/kernel.ts";
import { asking, begin, bytesOf, guarded, packageOf, suspendingKernel } from "../support/suspension.ts";
import { testEngine } from "../wasm/engine.ts";

const host = async (): Promise<IsolateHost> => interpreterHost({ engine: await testEngine() });

/** Reads, and then does what a person had to allow. */
const paying = packageOf(
  "paying",
  `await context.files.read("a"); await context.files.write("c", new TextEncoder().encode("paid")); return "paid";`,
  {
    approval: "always",
    effects: ["fs.read", "fs.write"],
    capabilities: ["fs.read", "fs.write"].map((kind) => ({ kind, paths: ["**"] })),
  },
);

function approving(scope: "once" | "session") {
  const asked: ApprovalRequest[] = [];
  const approver: Approver = async (request) => {
    asked.push(request);
    return { answer: "allow", scope, approver: "ada" };
  };
  return { asked, approver };
}

/** A call that is suspended in its run, on the approval of a person. */
async function suspendedRun(scope: "once" | "session") {
  const sink = memorySink();
  const options = { sink, tools: [paying, guarded] };
  const bench = await suspendingKernel(await host(), options);
  const { asked, approver } = approving(scope);
  const call = await begin(bench.kernel, "paying", {}, { approver });
  await bench.files.untilAsked("read a");
  const bytes = await bytesOf(bench.kernel, call);
  bench.files.open();
  return { ...bench, options, bytes, approvalId: asked[0]!.approvalId };
}

const denied = { ok: false, error: { code: "APPROVAL_DENIED", message: expect.stringContaining("revoked") } };
const revocations = async (events: () => Promise<readonly { type: string; payload: object }[]>) =>
  (await events()).filter(({ type, payload }) => type === "approval.resolved" && "reason" in payload && payload.reason === "Revoked: no"); // prettier-ignore

describe("the approval of a suspended call", () => {
  it.each(["once", "session"] as const)("can be revoked, with scope %s: the call does not go on", async (scope) => {
    const { kernel, files, bytes, approvalId, events } = await suspendedRun(scope);
    expect(await kernel.approvals.revoke(approvalId, "no")).toBe(true);
    expect(await kernel.approvals.revoke(approvalId, "no")).toBe(false);
    const { asked, approver } = approving("once");
    expect(await kernel.resume(bytes, { approver })).toMatchObject(denied);
    expect([asked, files.asked.includes("write c")]).toEqual([[], false]);
    expect(await revocations(events)).toHaveLength(1);
    await expectSoundLog(kernel);
  });

  it("can be revoked in the next kernel on the log", async () => {
    const { kernel, options, bytes, approvalId } = await suspendedRun("once");
    await kernel.close();
    const next = await suspendingKernel(await host(), options);
    expect(await next.kernel.approvals.revoke(approvalId, "no")).toBe(true);
    expect(await next.kernel.resume(bytes)).toMatchObject(denied);
    expect(next.files.asked).not.toContain("write c");
  });

  it("can be revoked while it is a question, which nobody is asked again", async () => {
    const { kernel, events } = await suspendingKernel(await host(), { sink: memorySink() });
    const { approvalId, ...call } = await asking(kernel, "guarded", {});
    const bytes = await bytesOf(kernel, call);
    expect(await kernel.approvals.revoke(approvalId, "no")).toBe(true);
    const { asked, approver } = approving("once");
    expect(await kernel.resume(bytes, { approver })).toMatchObject(denied);
    expect([asked, await revocations(events)]).toEqual([[], [expect.anything()]]);
    await expectSoundLog(kernel);
  });

  it("ends with its tool: where the tool is there again, a person is asked again", async () => {
    const { kernel, files, bytes } = await suspendedRun("session");
    await kernel.unregister("paying@1.0.0");
    expect(kernel.register(paying)).toMatchObject({ ok: true });
    const no: Approver = async () => ({ answer: "deny", approver: "ada" });
    expect(await kernel.resume(bytes, { approver: no })).toMatchObject({ error: { code: "APPROVAL_DENIED" } });
    expect(files.asked).not.toContain("write c");
  });

  it("can name any JSON: nothing in it is taken for a part of the snapshot", async () => {
    const bench = await suspendingKernel(await host(), { sink: memorySink(), tools: [paying] });
    const input = { note: { "\u0000part": 1, length: 64 } };
    const pattern = [{ at: "/note", equals: input.note }];
    const approver: Approver = async () => ({ answer: "allow", scope: "pattern", pattern, approver: "ada" });
    const call = await begin(bench.kernel, "paying", input, { approver });
    await bench.files.untilAsked("read a");
    const bytes = await bytesOf(bench.kernel, call);
    bench.files.open();
    expect(await bench.kernel.resume(bytes)).toMatchObject({ ok: true, data: "paid" });
  });

  it("is none any more once the call has ended, and no other id is one", async () => {
    const { kernel, bytes, approvalId } = await suspendedRun("once");
    expect(await kernel.approvals.revoke("none", "no")).toBe(false);
    expect(await kernel.resume(bytes)).toMatchObject({ ok: true, data: "paid" });
    expect(await kernel.approvals.revoke(approvalId, "no")).toBe(false);
  });
});
