import type { ApprovalAnswer, ApprovalRequest, Approver } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { settle } from "../support/fake-clock.ts";
import { expectSoundLog, openKernel, toolOf } from "../support/kernel.ts";
import { asking, pay, open, once } from "./paying.ts";

/** An approver that waits to be told. */
function patient() {
  const asked: { request: ApprovalRequest; answer: (answer: ApprovalAnswer) => void; signal: AbortSignal }[] = [];
  const approver: Approver = (request, signal) =>
    new Promise((answer) => {
      asked.push({ request, answer, signal });
    });
  return { approver, asked };
}

describe("a revoked approval", () => {
  it("that is still a question is a denial, and a late yes runs nothing", async () => {
    const { approver, asked } = patient();
    const { call, kernel, runs } = await open(approver);
    const pending = call({ amount: 1 });
    await settle();
    expect(await kernel.approvals.revoke(asked[0]!.request.approvalId, "changed my mind")).toBe(true);
    asked[0]!.answer(once);
    expect(await pending).toMatchObject({ error: { code: "APPROVAL_DENIED" } });
    expect(asked[0]!.signal.aborted).toBe(true);
    expect(runs()).toBe(0);
    await expectSoundLog(kernel);
  });

  it("in the same turn as its yes runs nothing", async () => {
    const { approver, asked } = patient();
    const { call, kernel, runs } = await open(approver);
    const pending = call({ amount: 1 });
    await settle();
    asked[0]!.answer(once);
    const revoked = kernel.approvals.revoke(asked[0]!.request.approvalId, "no");
    expect(await pending).toMatchObject({ ok: false, error: { code: "APPROVAL_DENIED" } });
    expect(await revoked).toBe(true);
    expect(runs()).toBe(0);
    await expectSoundLog(kernel);
  });

  it("that stood for a session is asked for again", async () => {
    let asked = 0;
    const { call, kernel } = await open(async () => {
      asked++;
      return { answer: "allow", scope: "session", approver: "bob" };
    });
    await call({ amount: 1 });
    await call({ amount: 1 });
    expect(asked).toBe(1);
    const [standing] = kernel.approvals.list();
    expect(await kernel.approvals.revoke(standing!.approvalId, "over")).toBe(true);
    expect(await kernel.approvals.revoke(standing!.approvalId, "over")).toBe(false);
    expect(kernel.approvals.list()).toEqual([]);
    await call({ amount: 1 });
    expect(asked).toBe(2);
    await expectSoundLog(kernel);
  });

  it("ends the grants of the call that runs on it", async () => {
    const { approver, asked } = patient();
    const bench = await openKernel({
      policy: { ...asking, grants: [{ tool: "subject", capability: { kind: "clock" } }] },
      approver,
    });
    let refusal: unknown;
    let goOn: () => void = () => {};
    bench.kernel.registerTrusted(
      toolOf(
        async (_: never, context: never) => {
          await new Promise<void>((resolve) => (goOn = resolve));
          await (context as { fetch: typeof fetch })
            .fetch("https://example.com/")
            .catch((error: unknown) => (refusal = error));
          return 1;
        },
        {
          tier: 2,
          determinism: "external",
          effects: ["net.read"],
          capabilities: [{ kind: "net.read", hosts: ["*"], optional: true }],
        },
      ),
    );
    const pending = bench.kernel.call("subject", {});
    await settle();
    asked[0]!.answer(once);
    await settle();
    await bench.kernel.approvals.revoke(asked[0]!.request.approvalId, "stop");
    goOn();
    await pending;
    expect(String((refusal as Error | undefined)?.message)).toContain("its grants ended");
    await expectSoundLog(bench.kernel);
  });
});

describe("an approved call that has to wait for its slot", () => {
  const occupied = async () => {
    const { approver, asked } = patient();
    const bench = await openKernel({ policy: asking, approver });
    let runs = 0;
    const releases: (() => void)[] = [];
    bench.kernel.registerTrusted(
      pay(() => {
        runs++;
        return new Promise((resolve) => releases.push(() => resolve(1)));
      }),
    );
    const first = bench.kernel.call("pay", { amount: 1 });
    await settle();
    asked[0]!.answer(once);
    await settle();
    const second = bench.kernel.call("pay", { amount: 2 }, { waitMs: 600_000 });
    await settle();
    asked[1]!.answer(once);
    await settle();
    expect(runs).toBe(1);
    const free = async () => {
      releases[0]!();
      await first;
      return second;
    };
    return { ...bench, asked, free, runs: () => runs };
  };

  it.each<[string, (bench: Awaited<ReturnType<typeof occupied>>) => Promise<unknown>]>([
    ["revoked", ({ kernel, asked }) => kernel.approvals.revoke(asked[1]!.request.approvalId, "no")],
    ["under another policy", ({ kernel }) => kernel.setPolicy({ version: "1", posture: "permissive" })],
    ["in another mode", ({ kernel }) => kernel.setMode("ALERT", "test")],
  ])("and is %s meanwhile does not run", async (_, change) => {
    const bench = await occupied();
    await change(bench);
    expect(await bench.free()).toMatchObject({
      ok: false,
      error: { code: "APPROVAL_DENIED" },
      proof: { reasonCode: "approval-void" },
    });
    expect(bench.runs()).toBe(1);
    await expectSoundLog(bench.kernel);
  });

  it("and expires meanwhile does not run", async () => {
    const bench = await openKernel({ policy: asking, approver: async () => once });
    let runs = 0;
    bench.kernel.registerTrusted(
      toolOf(() => (++runs, new Promise(() => {})), {
        name: "pay",
        tier: 2,
        bounds: { concurrency: 1, timeoutMs: 200_000 },
      }),
    );
    const first = bench.kernel.call("pay", {});
    await settle();
    const second = bench.kernel.call("pay", {}, { waitMs: 600_000 });
    await settle();
    await bench.clock.advance(200_000);
    expect(await first).toMatchObject({ error: { code: "TIMEOUT" } });
    expect(await second).toMatchObject({
      error: { code: "APPROVAL_DENIED", message: expect.stringContaining("expired") },
    });
    expect(runs).toBe(1);
    await expectSoundLog(bench.kernel);
  });
});
