import type { CallOptions, PolicyDocument } from "@keyhole/kernel";
import { checkPolicy, composeKernel, operations } from "@keyhole/kernel/compose";
import { inlineHost } from "@keyhole/kernel/inline";
import { sha256Hash } from "@keyhole/kernel/sha256";
import { describe, expect, it } from "vitest";
import { openKernel, toolOf } from "../support/kernel.ts";
import { fakeNet } from "../support/nested.ts";

const asking: PolicyDocument = { version: "1", posture: "standard" };
const elevated = {
  tier: 2,
  title: "Pay",
  input: { type: "object", properties: { amount: { type: "integer", default: 1 } } },
};
const pay = toolOf(({ amount }: { amount: number }) => amount, elevated);

describe("a preview", () => {
  it("of an allowed call says so, with what its proof will say", async () => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(pay);
    const preview = await kernel.preview("subject", {}, { caller: "ada", sessionId: "s" });
    const { proof } = await kernel.call("subject", {}, { caller: "ada", sessionId: "s" });
    const { proofId: _, callId: __, parentProofId: ___, traceparent: ____, hash: _____, ...same } = proof!;
    expect(preview).toEqual({ decision: "allow", tool: "subject@1.0.0", proof: same });
  });

  it("of a call that will be asked about has the question, without asking", async () => {
    let questions = 0;
    const { kernel } = await openKernel({
      policy: asking,
      approver: async () => {
        questions++;
        return { answer: "deny", approver: "eve" };
      },
    });
    kernel.registerTrusted(pay);
    expect(await kernel.preview("subject", { amount: 7 }, { caller: "ada" })).toMatchObject({
      decision: "ask",
      proof: { decision: "ask", reasonCode: "posture", obligations: ["approval"] },
      question: {
        caller: "ada",
        title: "Pay",
        input: { amount: 7 },
        tier: 2,
        hasBody: false,
        reason: "The posture standard asks before it runs tools of tier 2 (elevated).",
      },
    });
    expect(questions).toBe(0);
    const unattended = await openKernel({ policy: asking });
    unattended.kernel.registerTrusted(pay);
    expect(await unattended.kernel.preview("subject", {})).toMatchObject({ decision: "ask" });
  });

  it("of a call that a standing approval allows says so, with the approval", async () => {
    const { kernel, clock } = await openKernel({
      policy: asking,
      approver: async () => ({ answer: "allow", scope: "session", approver: "eve" }),
    });
    kernel.registerTrusted(pay);
    const options = { caller: "ada", sessionId: "s" };
    await kernel.call("subject", { amount: 7 }, options);
    expect(await kernel.preview("subject", { amount: 7 }, options)).toMatchObject({
      decision: "allow",
      proof: { decision: "allow", reasonCode: "approved", approval: { approver: "eve", scope: "session" } },
    });
    expect(await kernel.preview("subject", { amount: 8 }, options)).toMatchObject({ decision: "ask" });
    await clock.advance(8 * 3_600_000);
    expect(await kernel.preview("subject", { amount: 7 }, options)).toMatchObject({ decision: "ask" });
  });

  it.each<[string, string, unknown, unknown]>([
    ["an unknown tool", "subjcet", {}, undefined],
    ["a version that there is none of", "subject", {}, { version: "^9.0.0" }],
    ["invalid input", "subject", { amount: "7" }, undefined],
    ["input that is no data", "subject", () => 1, undefined],
    ["options that are none", "subject", {}, null],
    [
      "options that throw",
      "subject",
      {},
      Object.defineProperty({}, "caller", { enumerable: true, get: () => expect.unreachable() }),
    ],
    ["malformed grants", "subject", {}, { grants: [{ kind: "everything" }] }],
    ["a mistyped bound", "subject", {}, { bounds: { timoutMs: 1 } }],
    ["a key that is none", "subject", {}, { idempotencyKey: "" }],
  ])("of %s denies, with the error of the call", async (_, name, input, options) => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(pay);
    const preview = await kernel.preview(name, input, options as CallOptions);
    const result = await kernel.call(name, input, options as CallOptions);
    expect(preview).toEqual({ decision: "deny", tool: result.tool, error: result.ok || result.error });
  });

  it("of a kernel without approvals denies where the policy asks, and without keys where a key is named", async () => {
    const kernel = await composeKernel({
      policy: asking,
      hash: sha256Hash,
      inline: inlineHost(),
      checkPolicy,
      operations,
    });
    kernel.registerTrusted(pay);
    for (const options of [{}, { idempotencyKey: "k" }]) {
      const result = await kernel.call("subject", {}, options);
      expect(await kernel.preview("subject", {}, options)).toMatchObject({
        decision: "deny",
        error: result.ok ? {} : result.error,
      });
      expect(result).toMatchObject({ ok: false });
    }
  });

  it("by package pins the version of the package", async () => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(pay);
    kernel.registerTrusted(toolOf(() => 2, { ...elevated, version: "2.0.0" }));
    expect(await kernel.preview("subject", {})).toMatchObject({ tool: "subject@2.0.0" });
    const pinned = { manifest: { name: "subject", version: "1.0.0" } } as never;
    expect(await kernel.preview(pinned, {} as never)).toMatchObject({ tool: "subject@1.0.0" });
  });

  it("goes on as if allowed where the policy only observes", async () => {
    const { kernel } = await openKernel({ policy: { ...asking, enforcement: "observe" } });
    kernel.registerTrusted(pay);
    expect(await kernel.preview("subject", {})).toMatchObject({
      decision: "allow",
      proof: { decision: "ask", enforced: false },
    });
  });
});

describe("a preview leaves no trace", () => {
  it("in the log, in counters, in keys, in labels, in approvals, in what a tool sees", async () => {
    let runs = 0;
    const { kernel, events } = await openKernel({
      policy: {
        version: "1",
        posture: "permissive",
        labels: { secret: { tools: ["subject"] } },
        tools: { subject: { rate: { calls: 1, windowMs: 60_000 } } },
        rules: [{ id: "labelled", effect: "deny", when: { tool: ["other"], labels: ["secret"] }, reason: "Labelled." }],
      },
    });
    kernel.registerTrusted(toolOf(() => ++runs, { bounds: { callsPerHour: 1, concurrency: 1 } }));
    kernel.registerTrusted(toolOf(() => 1, { name: "other" }));
    const before = await events();
    const options = { caller: "ada", sessionId: "s", idempotencyKey: "k" };
    for (let i = 0; i < 5; i++)
      expect(await kernel.preview("subject", {}, options)).toMatchObject({ decision: "allow" });
    expect(runs).toBe(0);
    await kernel.setMode("NORMAL", "Whatever waits is written with it.");
    expect((await events()).slice(before.length).map(({ type }) => type)).toEqual([
      "tool.registered",
      "tool.registered",
      "mode.changed",
    ]);
    expect(await kernel.preview("other", {}, options)).toMatchObject({ decision: "allow" });
    expect(await kernel.call("subject", {}, options)).toMatchObject({ ok: true, data: 1, meta: { cached: false } });
    expect(await kernel.preview("subject", {}, options)).toMatchObject({
      decision: "deny",
      error: { code: "RATE_LIMITED", details: { retryAfterMs: 60_000 } },
    });
    expect(await kernel.preview("other", {}, options)).toMatchObject({ decision: "deny" });
  });

  it("in streams and signals of the options, which are those of the call to come", async () => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(
      toolOf(
        async function* (_: never, { body }: { body: AsyncIterable<Uint8Array> }) {
          yield* body;
        },
        { body: {}, output: { kind: "stream" } },
      ),
    );
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const body = new Blob([Uint8Array.of(1, 2, 3)]).stream();
    const options = { output: writable, body, signal: AbortSignal.abort() };
    expect(await kernel.preview("subject", {})).toMatchObject({ decision: "allow" });
    expect(await kernel.preview("subject", {}, options)).toMatchObject({
      decision: "allow",
      proof: { obligations: ["body"] },
    });
    expect([body.locked, writable.locked]).toEqual([false, false]);
    const [result, bytes] = await Promise.all([
      kernel.call("subject", {}, { output: writable, body }),
      new Response(readable).bytes(),
    ]);
    expect(result).toMatchObject({ ok: true });
    expect([...bytes]).toEqual([1, 2, 3]);
  });

  it("where a secret is named: nothing is asked of its store", async () => {
    const { kernel } = await openKernel({
      secrets: { families: [], open: () => expect.unreachable("nothing runs") },
      brokers: [fakeNet()],
    });
    kernel.registerTrusted(pay);
    expect(await kernel.preview("subject", {})).toMatchObject({ decision: "allow" });
  });

  it("where the log cannot be written: it still answers", async () => {
    const { kernel } = await openKernel({
      sink: {
        open: () => ({ last: undefined, cutBytes: 0, damage: null }),
        append: () => expect.unreachable("nothing is written"),
        read: () => [],
      },
    });
    kernel.registerTrusted(pay);
    expect(await kernel.preview("subject", {})).toMatchObject({ decision: "allow" });
  });
});
