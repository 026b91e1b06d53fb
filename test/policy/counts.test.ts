import { type ApprovalAnswer, memorySink, type PolicyDocument } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { Counters } from "../../packages/kernel/src/policy/decision/counters.ts";
import { SteadyClock } from "../../packages/kernel/src/state/steady-clock.ts";
import { FakeClock, settle } from "../support/fake-clock.ts";
import { expectSoundLog, openKernel, toolOf } from "../support/kernel.ts";

const hourMs = 3_600_000;
const budget = (count: object, effect: "deny" | "ask" | "allow" = "deny"): PolicyDocument => ({
  version: "1",
  posture: "standard",
  rules: [
    {
      id: "budget",
      effect,
      when: { tool: ["subject"], count: { windowMs: hourMs, ...count } as never },
      reason: "The budget is used up.",
    },
  ],
});
const amountTool = (execute: () => unknown = () => 1) =>
  toolOf(execute, {
    input: { type: "object", properties: { amount: {} } },
    bounds: { timeoutMs: 100, concurrency: 64 },
  });

describe("counts", () => {
  it("three concurrent calls of 2,000 under a sum of 5,000 admit exactly two", async () => {
    const { kernel, clock } = await openKernel({ policy: budget({ sum: "/amount", moreThan: 5_000 }) });
    let runs = 0;
    kernel.registerTrusted(amountTool(() => ++runs));
    const results = await Promise.all([1, 2, 3].map(() => kernel.call("subject", { amount: 2_000 })));
    expect(results.filter(({ ok }) => ok)).toHaveLength(2);
    expect(runs).toBe(2);
    expect(results.find(({ ok }) => !ok)).toMatchObject({
      error: { code: "POLICY_DENIED", retryable: true, details: { rules: ["budget"], retryAfterMs: hourMs } },
      proof: { stateReads: expect.arrayContaining([{ key: "count:budget", value: 4_000 }]) },
    });
    expect(await kernel.call("subject", { amount: 1_000 })).toMatchObject({ ok: true });
    expect(await kernel.call("subject", { amount: 0.01 })).toMatchObject({ ok: false });
    await clock.advance(hourMs - 1);
    expect(await kernel.call("subject", { amount: 1 })).toMatchObject({ ok: false });
    await clock.advance(1);
    expect(await kernel.call("subject", { amount: 5_000 })).toMatchObject({ ok: true });
    await expectSoundLog(kernel);
  });

  it.each([-5_000, "2000", null, [1], { valueOf: 1 }, undefined])(
    "a sum over %j denies and adds nothing",
    async (amount) => {
      const { kernel } = await openKernel({ policy: budget({ sum: "/amount", moreThan: 5_000 }) });
      kernel.registerTrusted(amountTool());
      expect(await kernel.call("subject", { amount })).toMatchObject({
        ok: false,
        proof: { decision: "deny", reasonCode: "rule-error", errors: [{ ruleId: "budget", code: "NOT_A_NUMBER" }] },
      });
      expect(await kernel.call("subject", { amount: 5_000 })).toMatchObject({ ok: true });
    },
  );

  it("calls that never start give back what they were charged", async () => {
    const { kernel } = await openKernel({
      policy: budget({ moreThan: 1 }, "deny"),
      approver: async () => ({ answer: "deny", approver: "ada" }),
    });
    kernel.registerTrusted(toolOf(() => 1, { approval: "always" }));
    for (let i = 0; i < 3; i++)
      expect(await kernel.call("subject", {})).toMatchObject({ error: { code: "APPROVAL_DENIED" } });
  });

  it("an open question counts: approvals cannot be stacked beyond the budget", async () => {
    const answers: (() => void)[] = [];
    const { kernel } = await openKernel({
      policy: { ...budget({ sum: "/amount", moreThan: 5_000 }), posture: "strict" },
      approver: Object.assign(
        () =>
          new Promise<ApprovalAnswer>((resolve) =>
            answers.push(() => resolve({ answer: "allow", scope: "once", approver: "ada" })),
          ),
        { concurrent: true },
      ),
    });
    kernel.registerTrusted(toolOf(() => 1, { tier: 1 }));
    const calls = [1, 2, 3].map(() => kernel.call("subject", { amount: 2_000 }));
    await settle();
    expect(answers).toHaveLength(2);
    for (const answer of answers) answer();
    expect((await Promise.all(calls)).filter(({ ok }) => ok)).toHaveLength(2);
  });

  it("are kept apart as the rule says", async () => {
    const run = async (per: string[]) => {
      const { kernel } = await openKernel({ policy: budget({ moreThan: 1, per }) });
      kernel.registerTrusted(toolOf(() => 1));
      const of = async (caller: string, sessionId: string) =>
        (await kernel.call("subject", {}, { caller, sessionId })).ok;
      return [await of("ada", "s"), await of("ada", "t"), await of("eve", "s"), await of("ada", "s")];
    };
    expect(await run(["caller"])).toEqual([true, false, true, false]);
    // Each caller has its own sessions.
    expect(await run(["session"])).toEqual([true, true, true, false]);
    expect(await run(["caller", "session"])).toEqual([true, true, true, false]);
    expect(await run([])).toEqual([true, false, false, false]);
  });

  it("at most so many lift the posture's ask", async () => {
    const { kernel } = await openKernel({ policy: budget({ atMost: 2 }, "allow") });
    kernel.registerTrusted(toolOf(() => 1, { tier: 2 }));
    const calls = [1, 2, 3].map(() => kernel.call("subject", {}));
    expect((await Promise.all(calls)).map(({ ok }) => ok)).toEqual([true, true, false]);
  });

  it.each([hourMs, -hourMs])("do not care about a clock that jumps by %d ms", async (byMs) => {
    const { kernel, clock } = await openKernel({ policy: budget({ moreThan: 1 }) });
    kernel.registerTrusted(toolOf(() => 1));
    await kernel.call("subject", {});
    clock.jump(byMs);
    expect(await kernel.call("subject", {})).toMatchObject({ ok: false });
    await clock.advance(hourMs);
    expect(await kernel.call("subject", {})).toMatchObject({ ok: true });
  });

  it("ten thousand concurrent calls with mixed ends leave every counter at zero", async () => {
    const clock = new FakeClock();
    const counters = new Counters(new SteadyClock(clock));
    const ends = Array.from({ length: 10_000 }, (_, i) => {
      const key = `w${i % 13}`;
      return {
        started: i % 3 === 0,
        charged: counters.charge([
          { key, windowMs: 1_000, amount: i },
          { key: `${key}x`, windowMs: 500, amount: 1 },
        ]),
      };
    });
    expect(counters.open).toBe(20_000);
    for (const { started, charged } of ends) {
      charged.end(started);
      charged.end(!started);
    }
    expect(counters.open).toBe(0);
    expect(counters.used({ key: "w0", windowMs: 1_000 })).toBeGreaterThan(0);
    await clock.advance(1_000);
    for (let i = 0; i < 13; i++) {
      expect(counters.used({ key: `w${i}`, windowMs: 1_000 })).toBe(0);
      expect(counters.used({ key: `w${i}x`, windowMs: 500 })).toBe(0);
    }
  });

  it("a call in flight counts beyond its window", async () => {
    const clock = new FakeClock();
    const counters = new Counters(new SteadyClock(clock));
    const charged = counters.charge([{ key: "k", windowMs: 10, amount: 7 }]);
    await clock.advance(1_000);
    expect(counters.used({ key: "k", windowMs: 10 })).toBe(7);
    charged.end(true);
    expect(counters.used({ key: "k", windowMs: 10 })).toBe(0);
  });

  const sum = { sum: "/amount", moreThan: 5_000 };
  const edited = (rule: object, count: object = sum): PolicyDocument => {
    const { rules, ...rest } = budget(count);
    return { ...rest, rules: [{ ...rules![0]!, ...rule }] };
  };
  it.each<[string, PolicyDocument]>([
    ["its words", edited({ reason: "At most 5,000 an hour." })],
    ["its examples", edited({ examples: { match: [{ tool: "subject", arguments: { amount: 6_000 } }] } })],
    ["a lower limit", edited({}, { ...sum, moreThan: 4_000 })],
    ["a longer window", edited({}, { ...sum, windowMs: 2 * hourMs })],
    ["its effect", edited({ effect: "ask" })],
    ["more conditions", edited({ when: { tier: [0], count: { windowMs: hourMs, ...sum } } })],
  ])("an edit of %s frees nothing, in the running kernel and in the next one", async (_, policy) => {
    const sink = memorySink();
    const { kernel } = await openKernel({ sink, policy: budget(sum) });
    kernel.registerTrusted(amountTool());
    expect(await kernel.call("subject", { amount: 5_000 })).toMatchObject({ ok: true });
    expect(await kernel.setPolicy(policy)).toMatchObject({ ok: true });
    const reads = [{ key: "count:budget", value: 5_000 }];
    const refused = { ok: false, proof: { stateReads: expect.arrayContaining(reads) } };
    expect(await kernel.call("subject", { amount: 1 })).toMatchObject(refused);
    await kernel.close();
    const next = await openKernel({ sink, policy });
    next.kernel.registerTrusted(amountTool());
    expect(await next.kernel.call("subject", { amount: 1 })).toMatchObject(refused);
  });

  it("a window that an edit shortens ends at its new end", async () => {
    const { kernel, clock } = await openKernel({ policy: budget(sum) });
    kernel.registerTrusted(amountTool());
    await kernel.call("subject", { amount: 5_000 });
    await kernel.setPolicy(budget({ ...sum, windowMs: 1_000 }));
    expect(await kernel.call("subject", { amount: 1 })).toMatchObject({ error: { details: { retryAfterMs: 1_000 } } });
    await clock.advance(1_000);
    expect(await kernel.call("subject", { amount: 1 })).toMatchObject({ ok: true });
  });

  it("a lower rate frees nothing, and a new version of the tool brings no new hour", async () => {
    const rated = (calls: number): PolicyDocument => ({
      ...budget({ moreThan: 100 }),
      tools: { subject: { rate: { calls, windowMs: hourMs }, bounds: { callsPerHour: 4 } } },
    });
    const { kernel } = await openKernel({ policy: rated(3) });
    kernel.registerTrusted(amountTool());
    const codes = async (calls: number): Promise<readonly string[]> => {
      const ends: string[] = [];
      for (let i = 0; i < calls; i++) {
        const result = await kernel.call("subject", {});
        ends.push(result.ok ? "ok" : result.error.code);
      }
      return ends;
    };
    expect(await codes(4)).toEqual(["ok", "ok", "ok", "RATE_LIMITED"]);
    await kernel.setPolicy(rated(2));
    expect(await codes(1)).toEqual(["RATE_LIMITED"]);
    await kernel.setPolicy(rated(100));
    kernel.registerTrusted(toolOf(() => 1, { version: "1.1.0", input: { type: "object" } }));
    expect(await codes(2)).toEqual(["ok", "RATE_LIMITED"]);
  });
});
