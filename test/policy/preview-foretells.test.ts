import {
  type CallOptions,
  type CallResult,
  type Capability,
  createKernel,
  type JsonObject,
  type Kernel,
  type PolicyDocument,
  type Preview,
  type RuleCondition,
  type ToolGovernance,
} from "@keyhole/kernel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FakeClock } from "../support/fake-clock.ts";
import { toolOf } from "../support/kernel.ts";
import { fakeNet } from "../support/nested.ts";
import { sized } from "../support/size.ts";

const names = ["subject", "other"] as const;
const callers = ["ada", "eve"] as const;
const modes = ["NORMAL", "ALERT", "DEGRADED", "LOCKDOWN"] as const;
const amount: Capability = { kind: "net.read", hosts: ["example.com"] };

const conditions: fc.Arbitrary<RuleCondition> = fc.oneof(
  fc.constant({}),
  fc.record({ tool: fc.constantFrom(["subject"], ["other"]), caller: fc.constantFrom(["ada"], ["ada", "eve"]) }),
  fc.record({ tier: fc.constantFrom([0, 1], [2, 3], [1, 4]) }),
  fc.constant({ labels: ["secret"] }),
  fc.constant({ arguments: [{ at: "/amount", moreThan: 3 }] }),
  fc.constant({ arguments: [{ at: "/note", startsWith: "a" }], caller: ["ada"] }),
  fc.record({ count: fc.record({ windowMs: fc.constant(60_000), moreThan: fc.integer({ min: 0, max: 2 }) }) }),
);
const rule = fc.record({ effect: fc.constantFrom("allow", "ask", "deny" as const), when: conditions });

const documents: fc.Arbitrary<PolicyDocument> = fc
  .record({
    posture: fc.constantFrom("strict", "standard", "permissive" as const),
    enforcement: fc.constantFrom("enforce", "enforce", "observe" as const),
    granted: fc.boolean(),
    rules: fc.array(rule, { maxLength: 4 }),
    tools: fc.record(
      {
        subject: fc.record(
          {
            modes: fc.constantFrom<NonNullable<ToolGovernance["modes"]>>(
              { forbidden: ["ALERT"] },
              { approval: ["DEGRADED"] },
              { allowed: ["NORMAL"] },
            ),
            sizes: fc.constant({ inputBytes: 20 }),
            rate: fc.constant({ calls: 1, windowMs: 60_000 }),
          },
          { requiredKeys: [] },
        ),
      },
      { requiredKeys: [] },
    ),
  })
  .map(({ granted, rules, ...rest }) => ({
    version: "1",
    ...rest,
    labels: { secret: { tools: ["other"] } },
    grants: granted ? [{ tool: "*", capability: amount }] : [],
    rules: rules.map((each, index) => ({ id: `r${index}`, reason: "Because.", ...each })),
  }));

interface Move {
  readonly tool: string;
  readonly input: unknown;
  readonly options: CallOptions;
  readonly mode: (typeof modes)[number] | undefined;
  readonly revoke: boolean;
  readonly passMs: number;
}

const moves: fc.Arbitrary<Move> = fc.record({
  tool: fc.constantFrom(...names, "missing"),
  input: fc.oneof(
    { weight: 5, arbitrary: fc.record({ amount: fc.nat(6), note: fc.constantFrom("a", "b") }, { requiredKeys: [] }) },
    { weight: 1, arbitrary: fc.constantFrom({ amount: "6" }, null) },
  ),
  options: fc.record(
    {
      caller: fc.constantFrom(...callers),
      sessionId: fc.constantFrom("s", "t"),
      grants: fc.constantFrom([], [amount]),
      bounds: fc.constantFrom({ timeoutMs: 10 }, { timeoutMs: 0 }),
      version: fc.constantFrom("1.x", "2.x"),
    },
    { requiredKeys: ["caller", "sessionId"] },
  ),
  mode: fc.option(fc.constantFrom(...modes), { nil: undefined, freq: 4 }),
  revoke: fc.integer({ min: 0, max: 9 }).map((each) => each === 0),
  passMs: fc.constantFrom(0, 1_000, 60_000),
});

const tiers = fc.tuple(fc.integer({ min: 0, max: 4 }), fc.integer({ min: 0, max: 4 }));
const answers = fc.array(fc.constantFrom("once", "session", "deny" as const), { minLength: 1, maxLength: 5 });

/** What went on in a call, as far as a preview can say it. */
interface Told {
  readonly decision: "allow" | "ask" | "deny";
  readonly result: CallResult;
  readonly question: object | undefined;
}

async function openWorld(document: PolicyDocument, [one, two]: readonly [number, number], yes: readonly string[]) {
  const clock = new FakeClock();
  let asked: object | undefined;
  let turn = 0;
  const kernel = await createKernel({
    clock,
    policy: document,
    brokers: [fakeNet()],
    approver: async (question) => {
      asked = question;
      const answer = yes[turn++ % yes.length];
      return answer === "deny"
        ? { answer: "deny", approver: "eve" }
        : { answer: "allow", scope: answer as "once" | "session", approver: "eve" };
    },
  });
  const input: JsonObject = {
    type: "object",
    properties: { amount: { type: "integer", default: 2 }, note: { type: "string" } },
  };
  kernel.registerTrusted(
    toolOf(() => 1, {
      input,
      tier: one,
      capabilities: [{ ...amount, optional: true }],
      effects: ["net.read"],
      determinism: "external",
    }),
  );
  kernel.registerTrusted(
    toolOf(() => 1, {
      name: "other",
      input,
      tier: two,
      capabilities: [amount],
      effects: ["net.read"],
      determinism: "external",
    }),
  );
  const call = async ({ tool, input: given, options }: Move): Promise<Told> => {
    asked = undefined;
    const result = await kernel.call(tool, given, options);
    const hasStarted = result.meta.attempts > 0;
    return { decision: asked ? "ask" : hasStarted ? "allow" : "deny", result, question: asked };
  };
  const prepare = async ({ mode, revoke, passMs, options: { caller = "" } }: Move): Promise<void> => {
    await clock.advance(passMs);
    if (mode) await kernel.setMode(mode, "It is the test's.");
    if (revoke) await kernel.grants.revoke({ caller, kinds: ["net.read"] }, "It is the test's.");
  };
  return { kernel, call, prepare };
}

const calm = ({ decidedAt: _, ...rest }: { readonly decidedAt?: string }): object => rest;

async function expectForetold(kernel: Kernel, preview: Preview, { decision, result, question }: Told): Promise<void> {
  expect(preview.decision).toBe(decision);
  expect(preview.tool).toBe(result.tool);
  if (preview.decision === "deny") expect(preview.error).toEqual(result.ok || result.error);
  if (preview.decision === "ask") expect(question).toMatchObject(preview.question);
  const decisions = (await kernel.audit.read()).flatMap((event) =>
    event.type === "policy.decided" && event.callId === result.callId ? [event.payload] : [],
  );
  // Who was asked has more decisions than one: the first is the one that a preview foretells.
  if (preview.decision === "ask")
    expect(decisions[0]).toMatchObject({ decision: "ask", reasonCode: preview.proof.reasonCode });
  else expect(preview.proof && calm(preview.proof)).toEqual(result.proof && calm(withoutIds(result.proof)));
}

function withoutIds(proof: NonNullable<CallResult["proof"]>): object {
  const { proofId: _, callId: __, parentProofId: ___, traceparent: ____, hash: _____, ...rest } = proof;
  return rest;
}

/** Each call again at once: by then it may be approved. */
function twice(all: readonly Move[]): readonly Move[] {
  return all.flatMap((move) => [move, { ...move, mode: undefined, revoke: false, passMs: 0 }]);
}

describe("for random policies, tools, inputs, modes, revocations and approvals", () => {
  it("the decision of a preview is the decision of the call that follows", async () => {
    const met = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(
        documents,
        tiers,
        answers,
        fc.array(moves, { minLength: 1, maxLength: 6 }),
        async (document, tier, yes, some) => {
          const { kernel, call, prepare } = await openWorld(document, tier, yes);
          for (const move of twice(some)) {
            await prepare(move);
            const preview = await kernel.preview(move.tool, move.input, move.options);
            await expectForetold(kernel, preview, await call(move));
            const key = preview.proof ? `${preview.decision} ${preview.proof.reasonCode}` : preview.decision;
            met.set(key, (met.get(key) ?? 0) + 1);
          }
        },
      ),
      // With one seed: which kinds of decisions are met is part of the test.
      { numRuns: sized(150, 5_000), seed: 4 },
    );
    for (const kind of [
      "allow posture",
      "allow rule",
      "allow approved",
      "ask posture",
      "ask rule",
      "deny posture",
      "deny rule",
      "deny mode",
      "deny rate",
      "deny capability-denied",
      "deny",
    ])
      expect(met.get(kind) ?? 0, kind).toBeGreaterThan(0);
  });

  it("calls go as they would have gone without any preview", async () => {
    await fc.assert(
      fc.asyncProperty(
        documents,
        tiers,
        answers,
        fc.array(moves, { minLength: 2, maxLength: 6 }),
        async (document, tier, yes, some) => {
          const [watched, plain] = [await openWorld(document, tier, yes), await openWorld(document, tier, yes)];
          for (const move of twice(some)) {
            for (const world of [watched, plain]) await world.prepare(move);
            for (let i = 0; i < 3; i++) await watched.kernel.preview(move.tool, move.input, move.options);
            const [one, two] = [await watched.call(move), await plain.call(move)];
            expect(one.decision).toBe(two.decision);
            expect(one.result.proof?.stateReads).toEqual(two.result.proof?.stateReads);
          }
          const types = async (kernel: Kernel) => (await kernel.audit.read()).map(({ type }) => type);
          expect(await types(watched.kernel)).toEqual(await types(plain.kernel));
        },
      ),
      { numRuns: sized(50, 2_000) },
    );
  });
});
