import { type ApprovalAnswer, type ApprovalRequest, type Approver, patternRule } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { declaration } from "../../packages/kernel/src/limits.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { expectSoundLog, toolOf } from "../support/kernel.ts";
import { calling } from "../support/nested.ts";
import { asking, open, once } from "./paying.ts";

describe("a standing approval answers no question that its approver did not see:", () => {
  const answers = {
    session: { answer: "allow", scope: "session", approver: "bob" },
    pattern: { answer: "allow", scope: "pattern", pattern: [{ at: "/amount", atMost: 100 }], approver: "bob" },
  } as const;
  const ask = (id: string, when: object): object => ({
    id,
    effect: "ask",
    when: { tool: ["pay"], ...when },
    reason: id,
  });
  const input = { amount: 5 };
  const governed = (...rules: object[]): object => ({
    ...asking,
    labels: { untrusted: { tools: ["web"] } },
    grants: [{ tool: "*", capability: { kind: "tool.call", tools: ["*"] } }],
    rules,
  });
  const prepared = async (scope: keyof typeof answers, ...rules: object[]) => {
    const reasons: string[] = [];
    const opened = await open(
      async ({ reason }) => {
        reasons.push(reason);
        return answers[scope];
      },
      governed(...rules),
    );
    const { kernel, call } = opened;
    kernel.registerTrusted(toolOf(() => "a page", { name: "web" }));
    kernel.registerTrusted(calling("outer", (_, { tools }) => tools.call("pay", input)));
    expect(await call(input)).toMatchObject({ ok: true });
    expect(await call(input)).toMatchObject({ ok: true });
    expect(reasons).toEqual([expect.stringContaining("posture")]);
    return { ...opened, reasons };
  };

  describe.each(["session", "pattern"] as const)("for a %s", (scope) => {
    it("a rule about a label that came later", async () => {
      const { kernel, call, reasons } = await prepared(scope, ask("labelled", { labels: ["untrusted"] }));
      await kernel.call("web", {}, { sessionId: "s", caller: "ada" });
      for (let again = 0; again < 2; again++) expect(await call(input)).toMatchObject({ ok: true });
      expect(reasons.slice(1)).toEqual(["labelled"]);
    });

    it("a count that is reached", async () => {
      const many = ask("many", { count: { windowMs: 60_000, moreThan: 2 } });
      const { call, reasons } = await prepared(scope, many);
      expect(await call(input)).toMatchObject({ ok: true });
      expect(reasons.slice(1)).toEqual(["many"]);
    });

    it("a time that has come", async () => {
      const after = new Date(new FakeClock().now() + 1_000).toISOString();
      const { call, clock, reasons } = await prepared(scope, ask("late", { time: { after } }));
      await clock.advance(1_000);
      expect(await call(input)).toMatchObject({ ok: true });
      expect(reasons.slice(1)).toEqual(["late"]);
    });

    it("a call from within, by whichever approver the outer call has", async () => {
      const { kernel, reasons } = await prepared(scope);
      const nestedApprover: Approver = async ({ reason }) => {
        reasons.push(`within: ${reason}`);
        return { answer: "deny", approver: "eve" };
      };
      const result = await kernel.call("outer", {}, { sessionId: "s", caller: "ada", nestedApprover });
      expect(result).toMatchObject({ data: { ok: false, error: { code: "APPROVAL_DENIED" } } });
      expect(reasons).toHaveLength(2);
    });
  });
});

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

describe("a pattern as long as the arguments of a caller", () => {
  const { characters } = declaration;
  const around = JSON.stringify([{ at: "/to", equals: "" }]).length;
  it.each([
    ["at the bound is taken", characters - around, { ok: true }],
    ["one character longer is a denial", characters - around + 1, { error: { code: "APPROVAL_DENIED" } }],
  ])("%s", async (_, length, expected) => {
    const { call, kernel } = await open(async ({ input }) => {
      const { to } = input as { to: string };
      return { answer: "allow", scope: "pattern", pattern: [{ at: "/to", equals: to }], approver: "bob" };
    });
    expect(await call({ amount: 50, to: "x".repeat(length) })).toMatchObject(expected);
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
