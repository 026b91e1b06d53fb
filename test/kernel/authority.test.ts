import {
  type ApprovalAnswer,
  type ApprovalRequest,
  type Approver,
  loadPolicy,
  type PolicyDocument,
  verifyProof,
} from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { expectSoundLog, openKernel, toolOf } from "../support/kernel.ts";
import { settle } from "../support/fake-clock.ts";

const tiers = [0, 1, 2, 3, 4] as const;
const yes: Approver = async () => ({ answer: "allow", scope: "once", approver: "ada" });

async function decisionOf(
  policy: unknown,
  more: Record<string, unknown> = {},
  options: { caller?: string; mode?: "NORMAL" | "ALERT" | "DEGRADED" | "LOCKDOWN" | "RECOVERY" } = {},
) {
  const { kernel } = await openKernel({ policy, ...(options.mode && { mode: options.mode }) });
  kernel.register(toolOf(() => 1, more));
  const { proof } = await kernel.call("subject", {}, options.caller === undefined ? {} : { caller: options.caller });
  return proof?.parentProofId === null ? proof.decision : "answered";
}

describe("a decision", () => {
  it.each([
    ["strict", ["allow", "ask", "ask", "deny", "deny"]],
    ["standard", ["allow", "allow", "ask", "ask", "deny"]],
    ["permissive", ["allow", "allow", "allow", "ask", "deny"]],
  ])("posture %s answers per tier", async (posture, expected) => {
    const actual = await Promise.all(tiers.map((tier) => decisionOf({ version: "1", posture }, { tier })));
    expect(actual).toEqual(expected);
  });

  it("without a policy is strict, and nobody is there to ask", async () => {
    expect(await decisionOf(undefined, { tier: 0 })).toBe("allow");
    expect(await decisionOf(undefined, { tier: 1 })).toBe("ask");
    expect(await decisionOf(undefined, { tier: 3 })).toBe("deny");
  });

  const rule = (id: string, effect: string, when: object = {}) => ({ id, effect, when, reason: `because of ${id}` });
  const standard = (...rules: object[]) => ({ version: "1", posture: "standard", rules });

  it.each([
    ["deny over ask over allow", [rule("a", "allow"), rule("b", "ask"), rule("c", "deny")], 0, "deny"],
    ["ask over allow", [rule("a", "allow"), rule("b", "ask")], 0, "ask"],
    ["allow lifts the posture's ask", [rule("a", "allow")], 2, "allow"],
    ["allow does not lift the posture's deny", [rule("a", "allow")], 4, "deny"],
    ["ask does not lift the posture's deny", [rule("a", "ask")], 4, "deny"],
    ["a rule for another tool does not matter", [rule("a", "deny", { tool: ["other"] })], 0, "allow"],
    ["a rule by tier", [rule("a", "deny", { tier: [1] })], 1, "deny"],
    ["all conditions must hold", [rule("a", "deny", { tier: [1], tool: ["other"] })], 1, "allow"],
  ])("%s", async (_, rules, tier, expected) => {
    expect(await decisionOf(standard(...rules), { tier })).toBe(expected);
  });

  it("order and duplicates of rules change nothing", async () => {
    const rules = [
      rule("a", "allow", { tier: [2] }),
      rule("b", "deny", { caller: ["eve"] }),
      rule("c", "ask", { mode: ["NORMAL"] }),
    ];
    for (const order of [rules, rules.toReversed(), [...rules, { ...rules[1], id: "d" }]]) {
      expect(await decisionOf(standard(...order), { tier: 2 }, { caller: "eve" })).toBe("deny");
      expect(await decisionOf(standard(...order), { tier: 2 }, { caller: "ada" })).toBe("ask");
    }
  });

  it.each([
    ["ALERT", { tier: 2 }, "ask"],
    ["ALERT", { tier: 1 }, "allow"],
    ["DEGRADED", { tier: 3 }, "deny"],
    ["LOCKDOWN", { tier: 0 }, "allow"],
    ["LOCKDOWN", { tier: 1 }, "deny"],
    ["RECOVERY", { tier: 3 }, "deny"],
  ] as const)("mode %s only tightens: %j", async (mode, more, expected) => {
    expect(await decisionOf({ version: "1", posture: "permissive" }, more, { mode })).toBe(expected);
  });

  it("a tool's own wishes tighten: modes and approval", async () => {
    expect(await decisionOf(standard(), { modes: ["ALERT"] })).toBe("deny");
    expect(await decisionOf(standard(rule("a", "allow")), { approval: "always" })).toBe("ask");
  });

  it("names what determined it, under a hash that notices any change", async () => {
    const { kernel } = await openKernel({ policy: standard(rule("no-eve", "deny", { caller: ["eve"] })) });
    kernel.register(toolOf(() => 1));
    const result = await kernel.call("subject", {}, { caller: "eve" });
    expect(result).toMatchObject({
      ok: false,
      error: { code: "POLICY_DENIED", message: "because of no-eve", details: { rules: ["no-eve"] } },
    });
    const { proof } = result;
    expect(proof).toMatchObject({
      decision: "deny",
      reasonCode: "rule",
      determining: [{ ruleId: "no-eve" }],
      considered: 1,
      policyHash: kernel.policyHash,
    });
    expect(verifyProof(proof)).toEqual({ ok: true });
    for (const key of Object.keys(proof!)) {
      expect(verifyProof({ ...proof, [key]: "changed" }), key).toMatchObject({ ok: false });
      const { [key as "tier"]: _, ...without } = proof!;
      expect(verifyProof(without), `without ${key}`).toMatchObject({ ok: false });
    }
    expect(verifyProof({ ...proof, extra: 1 })).toMatchObject({ ok: false });
  });

  it.each([null, undefined, 1, "proof", [], {}, { v: 2 }, Object.create({ v: 1 })])("%s is no proof", (foreign) => {
    expect(verifyProof(foreign)).toMatchObject({ ok: false });
  });
});

describe("a policy document", () => {
  const grant = (capability: object) => ({ version: "1", posture: "standard", grants: [{ tool: "x", capability }] });
  it.each([
    ["no object", [], ""],
    ["another version", { version: "2", posture: "standard" }, "/version"],
    ["an unknown posture", { version: "1", posture: "lax" }, "/posture"],
    ["an unknown key", { version: "1", posture: "standard", rule: [] }, ""],
    [
      "an unknown condition",
      {
        version: "1",
        posture: "standard",
        rules: [{ id: "a", effect: "deny", when: { moon: ["full"] }, reason: "x" }],
      },
      "/rules/0/when",
    ],
    [
      "two rules of one id",
      {
        version: "1",
        posture: "standard",
        rules: [1, 2].map(() => ({ id: "a", effect: "deny", when: {}, reason: "x" })),
      },
      "/rules/1/id",
    ],
    [
      "an empty list of conditions",
      { version: "1", posture: "standard", rules: [{ id: "a", effect: "deny", when: { tool: [] }, reason: "x" }] },
      "/rules/0/when/tool",
    ],
    [
      "a host with a scheme",
      grant({ kind: "net.read", hosts: ["https://example.com"] }),
      "/grants/0/capability/hosts/0",
    ],
    ["a path that climbs", grant({ kind: "fs.read", paths: ["../**"] }), "/grants/0/capability/paths/0"],
    [
      "a path prefix without slash",
      grant({ kind: "net.read", hosts: ["example.com"], paths: ["api"] }),
      "/grants/0/capability/paths/0",
    ],
    ["a port of 0", grant({ kind: "net.read", hosts: ["example.com"], ports: [0] }), "/grants/0/capability"],
    ["an own __proto__", JSON.parse('{"version":"1","posture":"standard","__proto__":{}}'), "/__proto__"],
  ])("with %s is refused with its place", (_, document, path) => {
    const loaded = loadPolicy(document);
    expect(loaded).toMatchObject({ ok: false, error: { code: "INVALID_POLICY" } });
    expect(loaded.ok || loaded.error.path).toContain(path);
  });

  it("hashes the same for the same content", () => {
    const one = loadPolicy({ version: "1", posture: "standard" });
    const two = loadPolicy({ posture: "standard", version: "1" });
    expect(one.ok && two.ok && one.value.hash === two.value.hash).toBe(true);
  });

  it("is replaced on record, and a bad one leaves the old one", async () => {
    const { kernel, events } = await openKernel();
    const before = kernel.policyHash;
    expect(await kernel.setPolicy({ version: "1" })).toMatchObject({ ok: false, error: { code: "INVALID_POLICY" } });
    expect(kernel.policyHash).toBe(before);
    expect(await kernel.setPolicy({ version: "1", posture: "strict" })).toMatchObject({ ok: true });
    expect((await events()).at(-1)).toMatchObject({
      type: "policy.changed",
      payload: { previousHash: before, policyHash: kernel.policyHash },
    });
  });
});

describe("an approval", () => {
  const asking: PolicyDocument = { version: "1", posture: "standard" };
  const ask = async (
    approver: Approver | undefined,
    calls: readonly { input: object; options?: object }[] = [{ input: { a: 1 } }],
  ) => {
    const bench = await openKernel({ policy: asking, ...(approver && { approver }) });
    let runs = 0;
    bench.kernel.register(toolOf(() => ++runs, { tier: 2, title: "Subject" }));
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

  it("denied with a reason says it", async () => {
    const { results } = await ask(async () => ({ answer: "deny", approver: "ada", reason: "not today" }));
    expect(results[0]).toMatchObject({
      error: { code: "APPROVAL_DENIED", message: "ada denied the call. Reason: not today" },
      proof: { decision: "deny", reasonCode: "approval-denied" },
    });
  });

  it("of an approver that throws is a denial, and without approver too", async () => {
    const { results } = await ask(() => {
      throw new Error("broken");
    });
    expect(results[0]).toMatchObject({ error: { code: "APPROVAL_DENIED" } });
    expect((await ask(undefined)).results[0]).toMatchObject({
      error: { code: "APPROVAL_DENIED", hint: expect.stringContaining("approver") },
    });
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
    bench.kernel.register(toolOf(() => ++runs, { tier: 2 }));
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
    bench.kernel.register(toolOf(() => 1, { tier: 2 }));
    const controller = new AbortController();
    const pending = bench.kernel.call("subject", {}, { signal: controller.signal });
    await settle();
    controller.abort();
    expect(await pending).toMatchObject({ error: { code: "CANCELLED" } });
    expect(bench.clock.pendingTimers).toBe(0);
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
    bench.kernel.register(toolOf(() => ++runs, { tier: 2 }));
    expect(await bench.kernel.call("subject", {})).toMatchObject({
      error: { code: "APPROVAL_DENIED", retryable: true },
    });
    expect(runs).toBe(0);
  });
});
