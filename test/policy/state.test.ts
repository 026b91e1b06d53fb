import { type Broker, createKernel, memorySink, type PolicyDocument } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { Counters } from "../../packages/kernel/src/policy/counters.ts";
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
    kernel.register(amountTool(() => ++runs));
    const results = await Promise.all([1, 2, 3].map(() => kernel.call("subject", { amount: 2_000 })));
    expect(results.filter(({ ok }) => ok)).toHaveLength(2);
    expect(runs).toBe(2);
    expect(results.find(({ ok }) => !ok)).toMatchObject({
      error: { code: "POLICY_DENIED", retryable: true, details: { rules: ["budget"], windowMs: hourMs } },
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
      kernel.register(amountTool());
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
    kernel.register(toolOf(() => 1, { approval: "always" }));
    for (let i = 0; i < 3; i++)
      expect(await kernel.call("subject", {})).toMatchObject({ error: { code: "APPROVAL_DENIED" } });
  });

  it("an open question counts: approvals cannot be stacked beyond the budget", async () => {
    const answers: (() => void)[] = [];
    const { kernel } = await openKernel({
      policy: { ...budget({ sum: "/amount", moreThan: 5_000 }), posture: "strict" },
      approver: () =>
        new Promise((resolve) => answers.push(() => resolve({ answer: "allow", scope: "once", approver: "ada" }))),
    });
    kernel.register(toolOf(() => 1, { tier: 1 }));
    const calls = [1, 2, 3].map(() => kernel.call("subject", { amount: 2_000 }));
    await settle();
    expect(answers).toHaveLength(2);
    for (const answer of answers) answer();
    expect((await Promise.all(calls)).filter(({ ok }) => ok)).toHaveLength(2);
  });

  it("are kept apart as the rule says", async () => {
    const run = async (per: string[]) => {
      const { kernel } = await openKernel({ policy: budget({ moreThan: 1, per }) });
      kernel.register(toolOf(() => 1));
      const of = async (caller: string, sessionId: string) =>
        (await kernel.call("subject", {}, { caller, sessionId })).ok;
      return [await of("ada", "s"), await of("ada", "t"), await of("eve", "s"), await of("ada", "s")];
    };
    expect(await run(["caller"])).toEqual([true, false, true, false]);
    expect(await run(["session"])).toEqual([true, true, false, false]);
    expect(await run(["caller", "session"])).toEqual([true, true, true, false]);
    expect(await run([])).toEqual([true, false, false, false]);
  });

  it("at most so many lift the posture's ask", async () => {
    const { kernel } = await openKernel({ policy: budget({ atMost: 2 }, "allow") });
    kernel.register(toolOf(() => 1, { tier: 2 }));
    const calls = [1, 2, 3].map(() => kernel.call("subject", {}));
    expect((await Promise.all(calls)).map(({ ok }) => ok)).toEqual([true, true, false]);
  });

  it.each([hourMs, -hourMs])("do not care about a clock that jumps by %d ms", async (byMs) => {
    const { kernel, clock } = await openKernel({ policy: budget({ moreThan: 1 }) });
    kernel.register(toolOf(() => 1));
    await kernel.call("subject", {});
    clock.jump(byMs);
    expect(await kernel.call("subject", {})).toMatchObject({ ok: false });
    await clock.advance(hourMs);
    expect(await kernel.call("subject", {})).toMatchObject({ ok: true });
  });

  it("ten thousand concurrent calls with mixed ends leave every counter at zero", { timeout: 60_000 }, async () => {
    const clock = new FakeClock();
    const counters = new Counters(clock);
    const ends = Array.from({ length: 10_000 }, (_, i) => {
      const key = `w${i % 13}`;
      return {
        started: i % 3 === 0,
        end: counters.charge([
          { key, windowMs: 1_000, amount: i },
          { key: `${key}x`, windowMs: 500, amount: 1 },
        ]),
      };
    });
    expect(counters.open).toBe(20_000);
    for (const { started, end } of ends) {
      end(started);
      end(!started);
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
    const counters = new Counters(clock);
    const end = counters.charge([{ key: "k", windowMs: 10, amount: 7 }]);
    await clock.advance(1_000);
    expect(counters.used({ key: "k", windowMs: 10 })).toBe(7);
    end(true);
    expect(counters.used({ key: "k", windowMs: 10 })).toBe(0);
  });
});

describe("governance of a tool", () => {
  const governed = (subject: object, more: object = {}) => ({
    version: "1",
    posture: "permissive",
    tools: { subject },
    ...more,
  });

  it("holds its rate, with a code of its own", async () => {
    const { kernel, clock } = await openKernel({ policy: governed({ rate: { calls: 2, windowMs: 60_000 } }) });
    kernel.register(toolOf(() => 1));
    const call = () => kernel.call("subject", {});
    expect((await Promise.all([call(), call(), call()])).map(({ ok }) => ok)).toEqual([true, true, false]);
    expect(await call()).toMatchObject({
      error: { code: "RATE_LIMITED", retryable: true },
      proof: { reasonCode: "rate" },
    });
    await clock.advance(60_000);
    expect((await call()).ok).toBe(true);
  });

  it.each([
    [{ modes: { forbidden: ["NORMAL"] } }, "POLICY_DENIED", "tool-mode"],
    [{ modes: { allowed: ["ALERT"] } }, "POLICY_DENIED", "tool-mode"],
    [{ modes: { approval: ["NORMAL"] } }, "APPROVAL_DENIED", "tool-approval"],
    [{ sizes: { inputBytes: 8 } }, "POLICY_DENIED", "tool-size"],
  ])("%j tightens", async (subject, code, reasonCode) => {
    const rules = [{ id: "a", effect: "allow", when: {}, reason: "x" }];
    const { kernel } = await openKernel({ policy: governed(subject, { rules }) });
    kernel.register(toolOf(() => 1));
    expect(await kernel.call("subject", { a: "é" })).toMatchObject({ error: { code }, proof: { reasonCode } });
  });

  it("counts input in bytes, exactly", async () => {
    const { kernel } = await openKernel({ policy: governed({ sizes: { inputBytes: 10 } }) });
    kernel.register(toolOf(() => 1));
    expect((await kernel.call("subject", { a: "é" })).ok).toBe(true); // {"a":"é"} is 10 bytes
    expect((await kernel.call("subject", { a: "éx" })).ok).toBe(false);
  });

  it("lowers bounds and never raises them", async () => {
    const { kernel } = await openKernel({ policy: governed({ bounds: { outputBytes: 4, timeoutMs: 900_000 } }) });
    kernel.register(toolOf(({ text }) => text, { bounds: { timeoutMs: 50 } }));
    expect(await kernel.call("subject", { text: "ab" })).toMatchObject({ ok: true });
    expect(await kernel.call("subject", { text: "abc" })).toMatchObject({ error: { code: "BOUNDS_EXCEEDED" } });
  });
});

describe("rules about requests", () => {
  const broker: Broker = {
    kinds: ["net.read"],
    needs: ({ arguments: { url } }) => {
      const { hostname: host, pathname: path } = new URL(String(url));
      return { ok: true, needs: [{ kind: "net.read", method: "GET", host, port: 443, path }] };
    },
    serve: async ({ arguments: { url } }, session) => {
      const refused = session.refusal({
        kind: "net.read",
        method: "GET",
        host: String(url).includes("redirect") ? "evil.example.com" : "example.com",
        port: 443,
        path: "/",
      });
      return refused
        ? { ok: false, error: refused }
        : { ok: true, value: { status: 200, headers: [], url: String(url) }, body: new Uint8Array() };
    },
  };
  const fetcher = () =>
    toolOf(async ({ url }: never, context: never) => (await (context as { fetch: typeof fetch }).fetch(url)).status, {
      determinism: "external",
      effects: ["net.read"],
      capabilities: [{ kind: "net.read", hosts: ["*"] }],
    });
  const open = async (part: object) => {
    const bench = await openKernel({
      policy: {
        version: "1",
        posture: "permissive",
        grants: [{ tool: "*", capability: { kind: "net.read", hosts: ["*"] } }],
        ...part,
      },
      brokers: [broker],
    });
    bench.kernel.register(fetcher());
    return bench;
  };
  const rule = (when: object) => ({ rules: [{ id: "no", effect: "deny", when, reason: "Not there." }] });
  const denied = { ok: false, error: { code: "CAPABILITY_DENIED" } };

  it.each<[string, object, string, boolean]>([
    ["a host", rule({ host: ["*.example.com"] }), "https://evil.example.com/", false],
    ["another host", rule({ host: ["*.example.com"] }), "https://example.org/", true],
    ["a path", rule({ host: ["example.com"], path: ["/admin"] }), "https://example.com/admin/x", false],
    ["another path", rule({ host: ["example.com"], path: ["/admin"] }), "https://example.com/administer", true],
    ["a method", rule({ method: ["GET"] }), "https://example.com/", false],
    ["another kind", rule({ method: ["GET"], capability: ["net.write"] }), "https://example.com/", true],
    ["another tool", rule({ method: ["GET"], tool: ["other"] }), "https://example.com/", true],
    ["a redirect", rule({ host: ["evil.example.com"] }), "https://example.com/redirect", false],
    [
      "a condition that errs",
      rule({ method: ["GET"], arguments: [{ at: "/url", moreThan: 1 }] }),
      "https://example.com/",
      false,
    ],
    [
      "a forbidden host",
      { tools: { subject: { hosts: { forbidden: ["evil.example.com"] } } } },
      "https://evil.example.com/",
      false,
    ],
    ["no allowed host", { tools: { subject: { hosts: { allowed: ["example.org"] } } } }, "https://example.com/", false],
    ["an allowed host", { tools: { subject: { hosts: { allowed: ["example.com"] } } } }, "https://example.com/", true],
  ])("%s", async (_, part, url, expected) => {
    const { kernel } = await open(part);
    const result = await kernel.call("subject", { url });
    if (expected) expect(result).toMatchObject({ ok: true });
    else expect(result).toMatchObject(denied);
    await expectSoundLog(kernel);
  });

  it("where the policy observes only warn", async () => {
    const { kernel } = await open({ ...rule({ host: ["example.com"] }), enforcement: "observe" });
    expect(await kernel.call("subject", { url: "https://example.com/" })).toMatchObject({
      ok: true,
      meta: { warnings: expect.arrayContaining(["Not enforced: Not there. (Rule no.)"]) },
    });
  });
});

describe("labels", () => {
  const policy = {
    version: "1",
    posture: "standard",
    labels: { untrusted: { tools: ["reader"] }, secret: { tools: ["vault"], implies: ["private"] }, private: {} },
    rules: [
      {
        id: "no-leak",
        effect: "deny",
        when: { tool: ["sender"], labels: ["untrusted", "private"] },
        reason: "The session has seen too much.",
      },
    ],
  };
  const open = async () => {
    const bench = await openKernel({ policy });
    for (const name of ["reader", "vault", "sender"])
      bench.kernel.register(
        toolOf(
          () => {
            if (name === "vault") throw new Error("x");
            return 1;
          },
          { name },
        ),
      );
    return bench.kernel;
  };
  it("flow through a session, and only through that", async () => {
    const kernel = await open();
    const sends = async (sessionId: string) => (await kernel.call("sender", {}, { sessionId })).ok;
    expect(await sends("s")).toBe(true);
    expect(await kernel.call("reader", {}, { sessionId: "s" })).toMatchObject({
      ok: true,
      proof: { obligations: ["label:untrusted"] },
    });
    expect(await sends("s")).toBe(false);
    expect(await sends("t")).toBe(true);
    const result = await kernel.call("sender", {}, { sessionId: "s" });
    expect(result.proof?.stateReads).toContainEqual({ key: "labels", value: "untrusted" });
  });
  it("imply each other, and stay when the tool fails", async () => {
    const kernel = await open();
    expect((await kernel.call("vault", {}, { sessionId: "s" })).ok).toBe(false);
    expect(await kernel.call("sender", {}, { sessionId: "s" })).toMatchObject({
      ok: false,
      proof: { determining: [{ ruleId: "no-leak" }] },
    });
  });
});

describe("the mode changes by itself", () => {
  const resources = { on: "errors", codes: ["TIMEOUT"], count: 2, windowMs: 1_000, to: "DEGRADED" } as const;
  it("when resources run short, on record, and not back", async () => {
    const { kernel, clock, events } = await openKernel({ modeTriggers: [resources, { ...resources, to: "ALERT" }] });
    kernel.register(toolOf(() => new Promise(() => {}), { bounds: { timeoutMs: 10 } }));
    const time = async () => {
      const call = kernel.call("subject", {});
      await clock.advance(10);
      await call;
    };
    await time();
    expect(kernel.mode).toBe("NORMAL");
    await clock.advance(1_000);
    await time();
    expect(kernel.mode).toBe("NORMAL");
    await time();
    expect(kernel.mode).toBe("DEGRADED");
    expect((await events()).findLast(({ type }) => type === "mode.changed")).toMatchObject({
      payload: { mode: "DEGRADED", previous: "NORMAL", reason: "2 calls ended with TIMEOUT within 1 s." },
    });
    await time();
    await time();
    expect(kernel.mode).toBe("DEGRADED");
  });

  it("when too many calls fail; refused and cancelled ones are no failures", async () => {
    const { kernel } = await openKernel({
      modeTriggers: [{ on: "failure-rate", ratio: 0.5, minCalls: 4, windowMs: 60_000, to: "ALERT" }],
    });
    let fail = false;
    kernel.register(
      toolOf(() => {
        if (fail) throw new Error("x");
        return 1;
      }),
    );
    kernel.register(toolOf(() => 1, { name: "refused", tier: 4 }));
    for (let i = 0; i < 10; i++) await kernel.call("refused", {});
    await kernel.call("subject", {});
    await kernel.call("subject", {});
    fail = true;
    await kernel.call("subject", {});
    expect(kernel.mode).toBe("NORMAL");
    await kernel.call("subject", {});
    expect(kernel.mode).toBe("ALERT");
  });

  it("to LOCKDOWN on a log that was tampered with", async () => {
    const first = memorySink();
    const before = await createKernel({ sink: first });
    before.register(toolOf(() => 1));
    await before.call("subject", {});
    const events = (await first.read(0, 100)).map((event, at) =>
      at === 1 ? { ...event, time: "2020-01-01T00:00:00.000Z" } : event,
    );
    const second = memorySink();
    await second.append(events as never);
    const after = await createKernel({ sink: second });
    expect(after.mode).toBe("LOCKDOWN");
    expect((await after.audit.read()).at(-1)).toMatchObject({ type: "mode.changed", payload: { mode: "LOCKDOWN" } });
    expect((await createKernel({ sink: first })).mode).toBe("NORMAL");
  });
});
