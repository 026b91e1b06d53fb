import type { ApprovalAnswer, ApprovalRequest, Approver, Kernel, Mode } from "@keyhole/kernel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FakeClock, settle } from "../support/fake-clock.ts";
import { expectSoundLog, openKernel, toolOf } from "../support/kernel.ts";

const yes: ApprovalAnswer = { answer: "allow", scope: "once", approver: "ada" };

interface Asked {
  readonly request: ApprovalRequest;
  readonly signal: AbortSignal;
  readonly answer: (answer?: ApprovalAnswer) => void;
}

/** Waits for the test, and ignores the end of its questions. */
function patient(more: Pick<Approver, "concurrent"> = {}) {
  const asked: Asked[] = [];
  const approver: Approver = Object.assign(
    (request: ApprovalRequest, signal: AbortSignal) =>
      new Promise<ApprovalAnswer>((resolve) =>
        asked.push({ request, signal, answer: (given = yes) => resolve(given) }),
      ),
    more,
  );
  return { approver, asked };
}

async function opened(approver: Approver) {
  const clock = new FakeClock(0);
  const { kernel } = await openKernel({ policy: { version: "1", posture: "standard" }, approver, clock });
  const ran: number[] = [];
  kernel.registerTrusted(toolOf((input: never) => (ran.push((input as { n: number }).n), 1), { tier: 2 }));
  const call = (n: number, signal?: AbortSignal) => kernel.call("subject", { n }, { ...(signal && { signal }) });
  return { kernel, clock, call, ran };
}

const inputs = (asked: readonly Asked[]) => asked.map(({ request }) => (request.input as { n: number }).n);

describe("the questions of two calls", () => {
  it("come one after the other", async () => {
    const { approver, asked } = patient();
    const { kernel, call, ran } = await opened(approver);
    const calls = [call(1), call(2)];
    await settle();
    expect(inputs(asked)).toEqual([1]);
    asked[0]!.answer();
    await calls[0];
    await settle();
    expect(inputs(asked)).toEqual([1, 2]);
    asked[1]!.answer({ answer: "deny", approver: "ada" });
    expect(await calls[1]).toMatchObject({ error: { code: "APPROVAL_DENIED" } });
    expect(ran).toEqual([1]);
    await expectSoundLog(kernel);
  });

  it("come at once to a concurrent approver", async () => {
    const { approver, asked } = patient({ concurrent: true });
    const { call } = await opened(approver);
    const calls = [call(1), call(2)];
    await settle();
    expect(inputs(asked)).toEqual([1, 2]);
    for (const { answer } of asked) answer();
    expect(await Promise.all(calls)).toMatchObject([{ ok: true }, { ok: true }]);
  });

  it("of two kernels come one after the other to the approver that they share", async () => {
    const { approver, asked } = patient();
    const both = [await opened(approver), await opened(approver)];
    const calls = both.map(({ call }, at) => call(at));
    await settle();
    expect(inputs(asked)).toEqual([0]);
    asked[0]!.answer();
    await settle();
    expect(inputs(asked)).toEqual([0, 1]);
    asked[1]!.answer();
    expect(await Promise.all(calls)).toMatchObject([{ ok: true }, { ok: true }]);
  });

  it("do not wait for an approver that ignores the end of its question", async () => {
    const { approver, asked } = patient();
    const { call } = await opened(approver);
    const cancel = new AbortController();
    const calls = [call(1, cancel.signal), call(2)];
    await settle();
    cancel.abort();
    await settle();
    expect(inputs(asked)).toEqual([1, 2]);
    // Too late, and for the question that is over.
    asked[0]!.answer();
    asked[1]!.answer({ answer: "deny", approver: "ada" });
    expect(await Promise.all(calls)).toMatchObject([
      { error: { code: "CANCELLED" } },
      { error: { code: "APPROVAL_DENIED" } },
    ]);
  });
});

describe("a question that waits for its turn", () => {
  it.each<[string, (bench: Awaited<ReturnType<typeof opened>>, cancel: AbortController) => unknown, string]>([
    ["is cancelled", (_, cancel) => cancel.abort(), "CANCELLED"],
    ["meets LOCKDOWN", ({ kernel }) => kernel.setMode("LOCKDOWN", "test"), "APPROVAL_DENIED"],
  ])("and %s is never shown", async (_, end, code) => {
    const { approver, asked } = patient();
    const bench = await opened(approver);
    const cancel = new AbortController();
    const calls = [bench.call(1), bench.call(2, cancel.signal)];
    await settle();
    await end(bench, cancel);
    expect(await calls[1]).toMatchObject({ error: { code } });
    asked[0]!.answer();
    await calls[0];
    await settle();
    expect(inputs(asked)).toEqual([1]);
    await expectSoundLog(bench.kernel);
  });
});

describe("an open question", () => {
  it.each<[string, (kernel: Kernel) => Promise<unknown>]>([
    ...(["LOCKDOWN", "ALERT"] satisfies Mode[]).map(
      (mode) => [mode, (kernel: Kernel) => kernel.setMode(mode, "test")] as [string, (kernel: Kernel) => Promise<void>],
    ),
    ["another policy", (kernel) => kernel.setPolicy({ version: "1", posture: "strict" })],
  ])("ends with %s, without an answer", async (_, change) => {
    const { approver, asked } = patient();
    const { kernel, call, ran } = await opened(approver);
    const waiting = call(1);
    await settle();
    await change(kernel);
    expect(await waiting).toMatchObject({
      error: { code: "APPROVAL_DENIED", retryable: true },
      proof: { reasonCode: "approval-void" },
    });
    expect(asked[0]!.signal.aborted).toBe(true);
    asked[0]!.answer();
    await settle();
    expect(ran).toEqual([]);
    await expectSoundLog(kernel);
  });
});

it("never has two open questions at one approver, and asks for each call that stays", async () => {
  const plan = fc.record({ by: fc.nat(2), cancels: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(plan, { minLength: 1, maxLength: 12 }), async (plans) => {
      let open = 0;
      const shown: number[] = [];
      const approver: Approver = async ({ input }) => {
        shown.push((input as { n: number }).n);
        expect(++open).toBe(1);
        await settle();
        open--;
        return yes;
      };
      const kernels = [await opened(approver), await opened(approver), await opened(approver)];
      const results = await Promise.all(
        plans.map(({ by, cancels }, n) => kernels[by]!.call(n, cancels ? AbortSignal.abort() : undefined)),
      );
      const stay = plans.flatMap(({ cancels }, n) => (cancels ? [] : [n]));
      expect(results.flatMap(({ ok }, n) => (ok ? [n] : []))).toEqual(stay);
      expect(shown.toSorted((a, b) => a - b)).toEqual(stay);
    }),
    { numRuns: 20 },
  );
});
