import { type ApprovalAnswer, type ApprovalRequest, type Approver, limits, type PolicyDocument } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { settle } from "../support/fake-clock.ts";
import { expectSoundLog, openKernel, toolOf } from "../support/kernel.ts";

const yes: Approver = async () => ({ answer: "allow", scope: "once", approver: "ada" });

describe("an approval", () => {
  const asking: PolicyDocument = { version: "1", posture: "standard" };
  const ask = async (
    approver: Approver | undefined,
    calls: readonly { input: object; options?: object }[] = [{ input: { a: 1 } }],
  ) => {
    const bench = await openKernel({ policy: asking, ...(approver && { approver }) });
    let runs = 0;
    bench.kernel.registerTrusted(toolOf(() => ++runs, { tier: 2, title: "Subject" }));
    const results = [];
    for (const { input, options } of calls)
      results.push(await bench.kernel.call("subject", input, { sessionId: "s", ...options }));
    return { ...bench, results, runs: () => runs };
  };

  it("shows the exact arguments and is bound to them", async () => {
    const seen: ApprovalRequest[] = [];
    const { results, kernel, events } = await ask(async (request) => {
      seen.push(request);
      (request.input as { a: number }).a = 666;
      return { answer: "allow", scope: "once", approver: "ada" };
    });
    expect(results[0]).toMatchObject({
      ok: true,
      proof: { decision: "allow", reasonCode: "approved", approval: { approver: "ada", scope: "once" } },
    });
    expect(seen[0]).toMatchObject({
      tool: "subject@1.0.0",
      title: "Subject",
      tier: 2,
      caller: "anonymous",
      hasBody: false,
      reason: expect.stringContaining("tier 2"),
    });
    expect(results[0]!.proof!.approval!.argsHash).toBe(seen[0]!.argsHash);
    const decided = (await events()).filter(({ type }) => type === "policy.decided");
    expect(results[0]!.proof!.parentProofId).toBe(
      (decided[0]!.payload as { proof: { proofId: string } }).proof.proofId,
    );
    await expectSoundLog(kernel);
  });

  it("for once is asked again; for the session only for the same arguments", async () => {
    let asked = 0;
    const scoped =
      (scope: "once" | "session"): Approver =>
      async () => {
        asked++;
        return { answer: "allow", scope, approver: "ada" };
      };
    await ask(scoped("once"), [{ input: { a: 1 } }, { input: { a: 1 } }]);
    expect(asked).toBe(2);
    asked = 0;
    const { results } = await ask(scoped("session"), [
      { input: { a: 1 } },
      { input: { a: 1 } },
      { input: { a: 2 } },
      { input: { a: 1 }, options: { sessionId: "t" } },
      { input: { a: 1 }, options: { caller: "eve" } },
    ]);
    expect(asked).toBe(4);
    expect(results.every(({ ok }) => ok)).toBe(true);
  });

  it.each(["session", "pattern"] as const)("for a %s is asked for again when it expires", async (scope) => {
    let asked = 0;
    const { kernel, clock } = await openKernel({
      policy: asking,
      approver: async () => {
        asked++;
        const answer = { answer: "allow", approver: "ada" } as const;
        return scope === "session" ? { ...answer, scope } : { ...answer, scope, pattern: [{ at: "/a", equals: 1 }] };
      },
    });
    kernel.registerTrusted(toolOf(() => 1, { tier: 2 }));
    const call = () => kernel.call("subject", { a: 1 }, { sessionId: "s" });
    await call();
    await clock.advance(limits.standingApprovalMs - 1);
    expect(await call()).toMatchObject({ ok: true });
    expect(kernel.approvals.list()).toHaveLength(1);
    expect(asked).toBe(1);
    await clock.advance(1);
    expect(kernel.approvals.list()).toEqual([]);
    expect(await call()).toMatchObject({ ok: true });
    expect(asked).toBe(2);
  });

  it.each<[string, unknown]>([
    ["nothing", undefined],
    ["null", null],
    ["true", true],
    ["a yes without scope", { answer: "allow", approver: "ada" }],
    ["a yes with another scope", { answer: "allow", scope: "forever", approver: "ada" }],
    ["a yes of nobody", { answer: "allow", scope: "once", approver: "" }],
    ["a yes in capitals", { answer: "ALLOW", scope: "once", approver: "ada" }],
  ])("answered with %s is a denial", async (_, answer) => {
    const { results, runs, kernel } = await ask(async () => answer as ApprovalAnswer);
    expect(results[0]).toMatchObject({ ok: false, error: { code: "APPROVAL_DENIED" } });
    expect(runs()).toBe(0);
    await expectSoundLog(kernel);
  });

  it("denied by its approver has a proof of the denial", async () => {
    const { results } = await ask(async () => ({ answer: "deny", approver: "ada", reason: "not today" }));
    expect(results[0]).toMatchObject({
      error: { code: "APPROVAL_DENIED" },
      proof: { decision: "deny", reasonCode: "approval-denied" },
    });
  });

  it("of an approver that throws is a denial, and without approver too", async () => {
    const { results } = await ask(() => {
      throw new Error("broken");
    });
    expect(results[0]).toMatchObject({ error: { code: "APPROVAL_DENIED" } });
    expect((await ask(undefined)).results[0]).toMatchObject({ error: { code: "APPROVAL_DENIED" } });
  });

  it("expires, tells the approver, and a late yes runs nothing", async () => {
    let answer: (value: ApprovalAnswer) => void = () => {};
    let signal: AbortSignal | undefined;
    const bench = await openKernel({
      policy: asking,
      approver: (_, given) => {
        signal = given;
        return new Promise((resolve) => (answer = resolve));
      },
    });
    let runs = 0;
    bench.kernel.registerTrusted(toolOf(() => ++runs, { tier: 2 }));
    const pending = bench.kernel.call("subject", {});
    await bench.clock.advance(120_000);
    expect(await pending).toMatchObject({ error: { code: "APPROVAL_EXPIRED" }, meta: { queuedMs: 120_000 } });
    expect(signal?.aborted).toBe(true);
    answer({ answer: "allow", scope: "once", approver: "ada" });
    await settle();
    expect(runs).toBe(0);
    await expectSoundLog(bench.kernel);
  });

  it("ends when the caller cancels", async () => {
    const bench = await openKernel({ policy: asking, approver: () => new Promise(() => {}) });
    bench.kernel.registerTrusted(toolOf(() => 1, { tier: 2 }));
    const controller = new AbortController();
    const pending = bench.kernel.call("subject", {}, { signal: controller.signal });
    await settle();
    controller.abort();
    expect(await pending).toMatchObject({ error: { code: "CANCELLED" } });
    expect(bench.clock.pendingTimers).toBe(0);
    await expectSoundLog(bench.kernel);
  });

  it("waits for at most 16 calls of one caller, and others are not held up", async () => {
    const answers: ((answer: ApprovalAnswer) => void)[] = [];
    const shows = () => new Promise<ApprovalAnswer>((resolve) => answers.push(resolve));
    const approver: Approver = Object.assign(shows, { concurrent: true });
    const bench = await openKernel({ policy: asking, approver });
    bench.kernel.registerTrusted(toolOf(() => 1, { tier: 2, bounds: { concurrency: 64 } }));
    const call = (caller: string) => bench.kernel.call("subject", {}, { caller });
    const waiting = Array.from({ length: 16 }, () => call("eve"));
    await settle();
    expect(await call("eve")).toMatchObject({
      error: { code: "RATE_LIMITED", retryable: true, details: { bound: "approvals", limit: 16 } },
    });
    const other = call("ada");
    await settle();
    expect(answers).toHaveLength(17);
    for (const answer of answers) answer({ answer: "deny", approver: "bob" });
    for (const result of [...(await Promise.all(waiting)), await other])
      expect(result).toMatchObject({ error: { code: "APPROVAL_DENIED" } });
    const again = call("eve");
    await settle();
    answers.at(-1)!({ answer: "allow", scope: "once", approver: "bob" });
    expect(await again).toMatchObject({ ok: true });
    await expectSoundLog(bench.kernel);
  });

  it("is void when policy or mode changed meanwhile", async () => {
    const bench = await openKernel({
      policy: asking,
      approver: async (...asked) => {
        await bench.kernel.setMode("ALERT", "test");
        return yes(...asked);
      },
    });
    let runs = 0;
    bench.kernel.registerTrusted(toolOf(() => ++runs, { tier: 2 }));
    expect(await bench.kernel.call("subject", {})).toMatchObject({
      error: { code: "APPROVAL_DENIED", retryable: true },
    });
    expect(runs).toBe(0);
  });
});
