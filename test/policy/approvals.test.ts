import { type ApprovalAnswer, type ApprovalRequest, type Approver, patternRule } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { settle } from "../support/fake-clock.ts";
import { expectSoundLog, openKernel, toolOf } from "../support/kernel.ts";

const asking = { version: "1", posture: "standard" };
const pay = (execute: () => unknown) =>
  toolOf(execute, {
    name: "pay",
    tier: 2,
    bounds: { concurrency: 1, timeoutMs: 1_000 },
    input: { type: "object", properties: { amount: { type: "number" }, to: { type: "string" } }, required: ["amount"] },
  });

async function open(approver: Approver, policy: object = asking) {
  const bench = await openKernel({ policy, approver });
  let runs = 0;
  const registered = bench.kernel.registerTrusted(pay(() => ++runs));
  if (!registered.ok) throw new Error(registered.error.message);
  const call = (input: object, more: object = {}) =>
    bench.kernel.call("pay", input, { sessionId: "s", caller: "ada", ...more });
  return { ...bench, call, runs: () => runs };
}

/** An approver that waits to be told. */
function patient() {
  const asked: { request: ApprovalRequest; answer: (answer: ApprovalAnswer) => void; signal: AbortSignal }[] = [];
  const approver: Approver = (request, signal) =>
    new Promise((answer) => {
      asked.push({ request, answer, signal });
    });
  return { approver, asked };
}
const once: ApprovalAnswer = { answer: "allow", scope: "once", approver: "bob" };

describe("an approval for a pattern", () => {
  const upTo100: Approver = async () => ({
    answer: "allow",
    scope: "pattern",
    pattern: [
      { at: "/amount", atMost: 100 },
      { at: "/to", equals: "shop" },
    ],
    approver: "bob",
  });

  it("answers what fits, for the same tool, caller, session and policy", async () => {
    let asked = 0;
    const { call, kernel } = await open((...args) => {
      asked++;
      return asked === 1 ? upTo100(...args) : Promise.resolve({ answer: "deny", approver: "bob" });
    });
    const ok = async (input: object, more?: object) => (await call(input, more)).ok;
    expect(await ok({ amount: 50, to: "shop" })).toBe(true);
    expect(await ok({ amount: 100, to: "shop" })).toBe(true);
    expect(asked).toBe(1);
    expect(await ok({ amount: 100.01, to: "shop" })).toBe(false);
    expect(await ok({ amount: 50, to: "shop " })).toBe(false);
    expect(await ok({ amount: 50, to: "shop" }, { sessionId: "t" })).toBe(false);
    expect(await ok({ amount: 50, to: "shop" }, { caller: "eve" })).toBe(false);
    expect(asked).toBe(5);
    await kernel.setPolicy({ ...asking, approvers: ["bob"] });
    expect(await ok({ amount: 50, to: "shop" })).toBe(false);
    await expectSoundLog(kernel);
  });

  it("is shown as the rule that it becomes, and proven as it", async () => {
    const requests: ApprovalRequest[] = [];
    const { call, kernel } = await open(async (request, signal) => {
      requests.push(request);
      return upTo100(request, signal);
    });
    const { proof } = await call({ amount: 50, to: "shop" });
    const answer = await upTo100(requests[0]!, new AbortController().signal);
    if (!("pattern" in answer)) throw new TypeError("no pattern");
    expect(proof?.approval?.rule).toEqual(patternRule(requests[0]!, answer.pattern, "bob"));
    expect(proof?.approval).toMatchObject({
      scope: "pattern",
      rule: {
        effect: "allow",
        when: { tool: ["pay"], version: "1.0.0", caller: ["ada"], session: ["s"], arguments: answer.pattern },
      },
    });
    expect(kernel.approvals.list()).toEqual([{ ...proof?.approval, tool: "pay@1.0.0", caller: "ada", sessionId: "s" }]);
  });

  it("lifts no denial", async () => {
    const deny = { id: "big", effect: "deny", reason: "x", when: { arguments: [{ at: "/amount", moreThan: 90 }] } };
    const { call } = await open(upTo100, { ...asking, rules: [deny] });
    expect((await call({ amount: 50, to: "shop" })).ok).toBe(true);
    expect(await call({ amount: 95, to: "shop" })).toMatchObject({ error: { code: "POLICY_DENIED" } });
  });

  it.each<[string, unknown]>([
    ["that does not fit what was shown", [{ at: "/amount", atMost: 1 }]],
    ["of nothing", []],
    ["that is no list", { at: "/amount", atMost: 100 }],
    ["with an unknown operator", [{ at: "/amount", matches: ".*" }]],
    ["with a bad pointer", [{ at: "amount", exists: true }]],
    ["that is missing", undefined],
  ])("%s is a denial", async (_, pattern) => {
    const { call, runs, kernel } = await open(
      async () => ({ answer: "allow", scope: "pattern", pattern, approver: "bob" }) as ApprovalAnswer,
    );
    expect(await call({ amount: 50, to: "shop" })).toMatchObject({ error: { code: "APPROVAL_DENIED" } });
    expect(runs()).toBe(0);
    await expectSoundLog(kernel);
  });
});

describe("edited arguments", () => {
  it("start again: they are validated, decided and asked about as they are", async () => {
    const seen: unknown[] = [];
    const { call, runs, kernel } = await open(async ({ input }) => {
      seen.push(input);
      return (input as { amount: number }).amount > 100
        ? { answer: "edit", input: { amount: 100 }, approver: "bob" }
        : once;
    });
    const result = await call({ amount: 500 });
    expect(seen).toEqual([{ amount: 500 }, { amount: 100 }]);
    expect(result).toMatchObject({ ok: true, proof: { decision: "allow", approval: { scope: "once" } } });
    expect(runs()).toBe(1);
    await expectSoundLog(kernel);
  });

  it.each<[string, unknown, string]>([
    ["that do not fit the schema", { amount: "all" }, "INVALID_INPUT"],
    ["that are no data", () => 1, "INVALID_INPUT"],
    ["that the policy denies", { amount: 1_000 }, "POLICY_DENIED"],
  ])("%s run nothing", async (_, input, code) => {
    const deny = { id: "big", effect: "deny", reason: "x", when: { arguments: [{ at: "/amount", moreThan: 900 }] } };
    const { call, runs, kernel } = await open(async () => ({ answer: "edit", input, approver: "bob" }), {
      ...asking,
      rules: [deny],
    });
    expect(await call({ amount: 5 })).toMatchObject({ ok: false, error: { code } });
    expect(runs()).toBe(0);
    await expectSoundLog(kernel);
  });

  it("without end are refused", async () => {
    let amount = 0;
    const { call, runs, kernel } = await open(async () => ({
      answer: "edit",
      input: { amount: ++amount },
      approver: "bob",
    }));
    expect(await call({ amount: 0 })).toMatchObject({ error: { code: "APPROVAL_DENIED" } });
    expect(amount).toBe(6);
    expect(runs()).toBe(0);
    await expectSoundLog(kernel);
  });
});

describe("approvers", () => {
  it("that the policy does not name cannot say yes, nor edit", async () => {
    const policy = { ...asking, approvers: ["carol"] };
    for (const answer of [once, { answer: "edit", input: { amount: 1 }, approver: "bob" } as const]) {
      const { call, runs } = await open(async () => answer, policy);
      expect(await call({ amount: 1 })).toMatchObject({
        error: { code: "APPROVAL_DENIED", message: expect.stringContaining("does not name") },
      });
      expect(runs()).toBe(0);
    }
    const { call } = await open(async () => ({ ...once, approver: "carol" }), policy);
    expect((await call({ amount: 1 })).ok).toBe(true);
  });
});

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
