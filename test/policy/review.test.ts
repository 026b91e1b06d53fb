import { type AuditEvent, type JsonValue, loadPolicy, type Proof, type ToolManifest } from "@keyhole/kernel";
import {
  createProofKey,
  explain,
  keyId,
  lintPolicy,
  locate,
  proofSigner,
  publicKeyOf,
  simulate,
  simulationTable,
  verifyProof,
} from "@keyhole/kernel/policy";
import { describe, expect, it } from "vitest";
import { openKernel, toolOf } from "../support/kernel.ts";
import { denyWhen, loaded } from "./support.ts";

const document = {
  version: "1",
  posture: "standard",
  labels: { untrusted: { tools: ["subject"] } },
  rules: [
    { id: "large", effect: "ask", reason: "Large.", when: { arguments: [{ at: "/amount", moreThan: 100 }] } },
    { id: "eve", effect: "deny", reason: "Not Eve.", when: { caller: ["eve"] } },
    {
      id: "budget",
      effect: "deny",
      reason: "Enough.",
      when: { count: { windowMs: 60_000, sum: "/amount", moreThan: 1_000 } },
    },
    {
      id: "morning",
      effect: "deny",
      reason: "Too early.",
      when: { time: { to: "00:00:00".slice(0, 5), from: "23:59" } },
    },
    { id: "odd", effect: "ask", reason: "Odd.", when: { arguments: [{ at: "/note", startsWith: "!" }] } },
  ],
};

async function record() {
  const signer = await proofSigner(await createProofKey());
  const bench = await openKernel({
    policy: document,
    signer,
    approver: async ({ input }) =>
      (input as { amount: number }).amount === 666
        ? { answer: "edit", input: { amount: 7 }, approver: "ada" }
        : { answer: "allow", scope: "once", approver: "ada" },
  });
  const registered = bench.kernel.register(toolOf(() => 1, { input: { type: "object" } }));
  if (!registered.ok) throw new Error(registered.error.message);
  const call = async (input: JsonValue, caller = "ada", grants?: []) => ({
    input,
    result: await bench.kernel.call("subject", input, { caller, sessionId: "s", ...(grants && { grants }) }),
  });
  const calls = {
    allowed: await call({ amount: 1 }),
    approved: await call({ amount: 101 }),
    denied: await call({ amount: 1 }, "eve"),
    erring: await call({ amount: 1, note: 5 }),
    spent: await call({ amount: 999 }),
    narrowed: await call({ amount: 2 }, "ada", []),
  };
  const edited = await bench.kernel.call("subject", { amount: 666 }, { caller: "ada", sessionId: "s" });
  return { ...bench, calls, edited, manifest: registered.value.manifest, log: await bench.events() };
}

const outcomes = (report: Awaited<ReturnType<typeof verifyProof>>) =>
  report.steps.map(({ level, name, outcome, reason }) => `${level} ${name} ${outcome}${reason && `: ${reason}`}`);

const hostile = {
  get v(): number {
    throw new Error("read");
  },
};

describe("keys", () => {
  // RFC 8037, appendix A.
  const d = "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A";
  const x = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
  it("have the thumbprint of RFC 8037, appendix A.3", async () => {
    expect(await keyId({ kty: "OKP", crv: "Ed25519", x })).toBe("kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
  });
  it("sign deterministically and without their private half", async () => {
    const signer = await proofSigner({ kty: "OKP", crv: "Ed25519", x, d });
    const proof = { hash: "blake3:00" } as Proof;
    expect(await signer.sign(proof)).toEqual(await signer.sign(proof));
    expect(publicKeyOf({ kty: "OKP", crv: "Ed25519", x, d } as never)).toEqual({ kty: "OKP", crv: "Ed25519", x });
  });
});

describe("a proof", () => {
  it("passes every level, for allow, deny, ask and answer alike", async () => {
    const { calls, manifest, log } = await record();
    for (const [name, { input, result }] of Object.entries(calls)) {
      const grants = name === "narrowed" ? [] : undefined;
      const evidence = { events: log, policy: document, tool: { manifest }, input, ...(grants && { grants }) };
      expect(outcomes(await verifyProof(result.proof, evidence)), name).toEqual([
        "0 digest passed",
        "0 signature skipped: No keys were given.",
        "1 inclusion passed",
        "2 re-evaluation passed",
        "3 discharge passed",
      ]);
    }
    expect(calls.erring.result.proof).toMatchObject({
      reasonCode: "approved",
      errors: [{ ruleId: "odd", code: "NOT_A_TEXT" }],
    });
    expect(calls.spent.result.proof).toMatchObject({ decision: "deny", determining: [{ ruleId: "budget" }] });
    for (const event of log) {
      if (event.type !== "policy.decided") continue;
      expect(await verifyProof(event.payload.proof, { events: log })).toMatchObject({ ok: true });
    }
  });

  it("of edited arguments follows from the question, and the run is proven for the new ones", async () => {
    const { edited, manifest, log } = await record();
    expect(edited).toMatchObject({ ok: true });
    const decided = log.filter(({ callId, type }) => callId === edited.callId && type === "policy.decided");
    expect(decided.map(({ payload }) => (payload as { decision: string }).decision)).toEqual(["ask", "deny", "allow"]);
    const evidence = { events: log, policy: document, tool: { manifest }, input: { amount: 7 } };
    expect(await verifyProof(edited.proof, evidence)).toMatchObject({ ok: true });
    expect(await verifyProof(edited.proof, { ...evidence, input: { amount: 666 } })).toMatchObject({ ok: false });
  });

  it("is refused at level 0 for every flipped bit", { timeout: 60_000 }, async () => {
    const { calls } = await record();
    const text = JSON.stringify(calls.approved.result.proof);
    const bytes = new TextEncoder().encode(text);
    let found = 0;
    let flips = 0;
    for (let at = 0; at < bytes.length; at++) {
      for (let bit = 0; bit < 8; bit++) {
        const flipped = Uint8Array.from(bytes);
        flipped[at]! ^= 1 << bit;
        let foreign: unknown;
        try {
          foreign = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(flipped));
        } catch {
          continue;
        }
        const { signature: _, ...proof } = foreign as Proof;
        if (JSON.stringify(proof) === JSON.stringify({ ...calls.approved.result.proof, signature: undefined }))
          continue;
        flips++;
        if (!(await verifyProof(foreign)).ok) found++;
      }
    }
    expect(flips).toBeGreaterThan(5_000);
    expect(found).toBe(flips);
  });

  it("is signed; rotation keeps old proofs verifiable; a flipped bit of the signature is found", async () => {
    const [oldKey, newKey] = [await createProofKey(), await createProofKey()];
    const { calls } = await record();
    const { signature: _, ...bare } = calls.allowed.result.proof!;
    const byOld = await (await proofSigner(oldKey)).sign(bare);
    const byNew = await (await proofSigner(newKey)).sign(bare);
    const keys = [publicKeyOf(newKey), publicKeyOf(oldKey)];
    for (const proof of [byOld, byNew]) expect(await verifyProof(proof, { keys })).toMatchObject({ ok: true });
    expect(await verifyProof(byOld, { keys: [publicKeyOf(newKey)] })).toMatchObject({ ok: false });
    expect(await verifyProof(bare, { keys })).toMatchObject({ ok: false });
    expect(await verifyProof({ ...bare, signature: byOld.signature }, { keys })).toMatchObject({ ok: true });
    const { signature } = byNew;
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for (const field of ["value", "kid"] as const) {
      const text = signature![field];
      for (let at = 0; at < text.length; at++) {
        for (const bit of [1, 2, 4, 8, 16, 32]) {
          const other = alphabet[alphabet.indexOf(text[at]!) ^ bit]!;
          const forged = {
            ...byNew,
            signature: { ...signature!, [field]: text.slice(0, at) + other + text.slice(at + 1) },
          };
          expect((await verifyProof(forged, { keys })).ok, `${field} ${at} ${bit}`).toBe(false);
        }
      }
    }
  });

  it.each<[string, (evidence: { policy: typeof document; manifest: ToolManifest; input: JsonValue }) => object]>([
    ["another policy", ({ policy }) => ({ policy: { ...policy, posture: "permissive" } })],
    ["a policy that is none", () => ({ policy: { version: "1" } })],
    ["other arguments", () => ({ input: { amount: 2 } })],
    ["another tool", ({ manifest }) => ({ tool: { manifest: { ...manifest, tier: 1 } } })],
    ["another caller's grants", () => ({ grants: [] })],
    ["a tool that is none", () => ({ tool: { manifest: null } })],
  ])("does not pass level 2 with %s", async (_, change) => {
    const { calls, manifest } = await record();
    const evidence = { policy: document, tool: { manifest }, input: calls.allowed.input };
    expect(await verifyProof(calls.allowed.result.proof, evidence)).toMatchObject({ ok: true });
    const report = await verifyProof(calls.allowed.result.proof, {
      ...evidence,
      ...change({ policy: document, manifest, input: {} }),
    } as never);
    expect(report.steps.find(({ level }) => level === 2)).toMatchObject({ outcome: "failed" });
  });

  it("that lies about its decision passes no level 2, however well it is hashed", async () => {
    const { calls, manifest } = await record();
    const { sealProof } = await import("../../packages/kernel/src/policy/seal.ts");
    const { hash: _, signature: __, v: ___, engineVersion: ____, ...body } = calls.denied.result.proof!;
    const forged = sealProof({ ...body, decision: "allow", reasonCode: "posture", determining: [] });
    expect(await verifyProof(forged)).toMatchObject({ ok: true });
    const evidence = { policy: document, tool: { manifest }, input: calls.denied.input };
    expect(await verifyProof(forged, evidence)).toMatchObject({ ok: false });
  });

  it("does not pass with a log that lost, changed or never had its decision, or in which a denied tool ran", async () => {
    const { calls, log } = await record();
    const { proof, callId } = calls.denied.result;
    const at = log.findIndex((event) => event.callId === callId && event.type === "policy.decided");
    const without = log.toSpliced(at, 1);
    expect(await verifyProof(proof, { events: without })).toMatchObject({ ok: false });
    expect(await verifyProof(proof, { events: log.slice(0, at) })).toMatchObject({ ok: false });
    expect(await verifyProof(proof, { events: [null, 1, "x"] as never })).toMatchObject({ ok: false });
    expect(await verifyProof(proof, { events: log.with(at, { ...log[at]!, time: "x" } as AuditEvent) })).toMatchObject({
      ok: false,
    });
    const { eventHash } = await import("../../packages/kernel/src/audit/chain.ts");
    const { hash: _, ...started } = {
      ...log[at + 1]!,
      type: "tool.started",
      payload: { tool: "x", toolHash: "x", host: "x" },
    } as AuditEvent;
    const forged = [...log.slice(0, at + 1), { ...started, hash: eventHash(started as never) } as AuditEvent];
    const report = await verifyProof(proof, { events: forged });
    expect(report.steps.at(-1)).toMatchObject({
      level: 3,
      outcome: "failed",
      reason: "The tool ran although the decision was deny.",
    });
  });

  it.each<[string, unknown]>([
    ["null", null],
    ["nothing", undefined],
    ["a number", 1],
    ["a text", "proof"],
    ["a list", []],
    ["an empty object", {}],
    ["a trap", hostile],
  ])("is not %s", async (_, foreign) => {
    const evidence = { events: foreign as never, policy: foreign, tool: foreign as never, input: 1 };
    expect(await verifyProof(foreign, evidence)).toMatchObject({ ok: false });
  });
});

describe("explain", () => {
  it("says which rule decided and what would have to change", async () => {
    const { calls } = await record();
    const loadedPolicy = loadPolicy(document);
    const policy = loadedPolicy.ok ? loadedPolicy.value : undefined;
    expect(explain(calls.denied.result.proof!, policy)).toEqual({
      summary: "The call of subject@1.0.0 was denied: rule eve decided (“Not Eve”).",
      facts: [
        expect.stringContaining("rules were tried"),
        "The caller was eve.",
        expect.stringContaining("The session carried"),
        "Rule budget had counted 0 before this call.",
      ],
      toChange: [
        "Other arguments, another caller or another time that rule eve does not match.",
        "A policy in which rule eve is narrower. No approval and no other rule lifts a deny.",
      ],
    });
    expect(explain(calls.approved.result.proof!).summary).toBe(
      "The call of subject@1.0.0 was allowed: ada approved it (once).",
    );
    expect(explain(calls.allowed.result.proof!).toChange).toEqual([]);
  });
});

describe("simulate", () => {
  it("shows as a table what a changed policy would have decided", async () => {
    const { manifest } = await record();
    const policy = loaded({
      labels: { untrusted: { tools: ["subject"] } },
      rules: [
        denyWhen({ count: { windowMs: 60_000, moreThan: 2 } }, "two"),
        { ...denyWhen({ labels: ["untrusted"], arguments: [{ at: "/x", equals: 1 }] }, "seen"), effect: "ask" },
      ],
    });
    const at = (second: number, input: JsonValue) =>
      ({
        manifest,
        input,
        time: `2026-01-01T00:${String(second).padStart(2, "0")}:00Z`,
        sessionId: "s",
        decision: "allow",
      }) as const;
    const rows = simulate(policy, [at(0, {}), at(0, { x: 1 }), at(0, {}), at(1, {})]);
    expect(rows.map(({ after }) => after)).toEqual(["allow", "ask", "deny", "allow"]);
    expect(simulationTable(rows).split("\n")).toEqual([
      "   time                  tool           caller     before  after  rules",
      "   2026-01-01T00:00:00Z  subject@1.0.0  anonymous  allow   allow",
      "*  2026-01-01T00:00:00Z  subject@1.0.0  anonymous  allow   ask    seen",
      "*  2026-01-01T00:00:00Z  subject@1.0.0  anonymous  allow   deny   two",
      "   2026-01-01T00:01:00Z  subject@1.0.0  anonymous  allow   allow",
    ]);
  });
});

describe("lint", () => {
  const rule = (id: string, effect: "allow" | "ask" | "deny", when: object) => ({ id, effect, when, reason: "x" });
  it.each([
    [
      "shadowed",
      [rule("a", "deny", { tool: ["x", "y"] }), rule("b", "ask", { tool: ["x"], caller: ["ada"] })],
      "b",
      "a",
    ],
    ["shadowed", [rule("a", "deny", { tool: ["x"] }), rule("b", "deny", { tool: ["x"] })], "b", "a"],
    ["contradicting", [rule("a", "allow", { tool: ["x"] }), rule("b", "deny", { tool: ["x"] })], "a", "b"],
    [
      "never-matching",
      [
        rule("a", "deny", {
          arguments: [
            { at: "/n", moreThan: 5 },
            { at: "/n", atMost: 5 },
          ],
        }),
      ],
      "a",
      null,
    ],
    [
      "never-matching",
      [
        rule("a", "deny", {
          arguments: [
            { at: "/n", in: [1, 2] },
            { at: "/n", equals: 3 },
          ],
        }),
      ],
      "a",
      null,
    ],
    [
      "never-matching",
      [
        rule("a", "deny", {
          arguments: [
            { at: "/n", equals: 3 },
            { at: "/n", notIn: [3] },
          ],
        }),
      ],
      "a",
      null,
    ],
    ["never-matching", [rule("a", "deny", { tool: ["nobody"] })], "a", null],
    ["never-matching", [rule("a", "deny", { labels: ["secret"] })], "a", null],
    ["without-effect", [rule("a", "allow", { tier: [4] })], "a", null],
  ] as const)("finds a rule that is %s: %j", (kind, rules, ruleId, by) => {
    const policy = loaded({ labels: { secret: {} }, rules: rules as never });
    expect(lintPolicy(policy, ["x", "y"])).toMatchObject([{ kind, ruleId, by }]);
  });
  it("leaves sound rules alone", () => {
    const rules = [
      rule("a", "allow", { tool: ["x"] }),
      rule("b", "deny", { tool: ["x"], caller: ["eve"] }),
      rule("c", "ask", {
        tool: ["x"],
        arguments: [
          { at: "/n", moreThan: 5 },
          { at: "/n", atMost: 6 },
        ],
      }),
      rule("d", "allow", { count: { windowMs: 1, atMost: 5 } }),
      rule("e", "allow", { tool: ["y"], count: { windowMs: 1, atMost: 5 } }),
    ];
    expect(lintPolicy(loaded({ rules: rules as never }), ["x", "y"])).toEqual([]);
  });
});

describe("locate", () => {
  const text =
    '{\n  "a": [1, {"b\\"c": "}"}],\n  "rules": [\n    { "id": "x" },\n    { "id": "y", "when": {"tool": []} }\n  ]\n}';
  it.each([
    ["", 1, 1],
    ["/a", 2, 8],
    ['/a/1/b"c', 2, 21],
    ["/rules/1", 5, 5],
    ["/rules/1/when/tool", 5, 35],
    ["/rules/1/when/absent", 5, 26],
    ["/rules/7", 3, 12],
  ])("finds %j at line %d, column %d", (pointer, line, column) => {
    expect(locate(text, pointer)).toEqual({ line, column });
  });
});
