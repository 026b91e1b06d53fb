import { policy as policyOf, type Mode, modes, type PolicyRule } from "@keyhole/kernel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isStricter } from "../../packages/kernel/src/tool/modes.ts";
import { openKernel, toolOf } from "../support/kernel.ts";
import { decisionBy, inputOf, loaded } from "./support.ts";
import { sized } from "../support/size.ts";

const order: readonly Mode[] = ["NORMAL", "ALERT", "DEGRADED", "RECOVERY", "LOCKDOWN"];
const someModes = fc.uniqueArray(fc.constantFrom(...modes), { minLength: 1, maxLength: 5 });
const maybe = <Value>(key: string, value: fc.Arbitrary<Value>) =>
  fc.option(
    value.map((each) => ({ [key]: each })),
    { nil: {} },
  );

const rule = fc.record({
  effect: fc.constantFrom("allow" as const, "ask" as const, "deny" as const),
  when: fc
    .tuple(
      maybe("mode", someModes),
      maybe("tier", fc.uniqueArray(fc.nat(4), { minLength: 1 })),
      maybe("caller", fc.constantFrom(["ada"], ["bob"])),
      maybe("arguments", fc.constantFrom([{ at: "/n", moreThan: 1 }], [{ at: "/n", differs: 2 }])),
    )
    .map((parts) => Object.assign({}, ...parts) as PolicyRule["when"]),
});
const governance = fc
  .tuple(
    maybe("allowed", someModes),
    maybe("forbidden", someModes),
    maybe("approval", someModes),
    maybe("lockdown", fc.constant("ask")),
  )
  .map((parts) => ({ modes: Object.assign({}, ...parts) as object }));
const document = fc.record({
  posture: fc.constantFrom("strict" as const, "standard" as const, "permissive" as const),
  enforcement: fc.constantFrom("enforce" as const, "observe" as const),
  rules: fc
    .array(rule, { maxLength: 5 })
    .map((rules) => rules.map((each, at) => ({ ...each, id: `r${at}`, reason: "r" }))),
  tools: fc.option(
    governance.map((pay) => ({ pay })),
    { nil: {} },
  ),
});
const call = fc.record({
  tier: fc.constantFrom(0, 1, 2, 3, 4),
  effects: fc.subarray(["net.read", "net.write", "fs.read", "fs.write", "db.write", "process.spawn"] as const),
  input: fc.constantFrom({}, { n: 1 }, { n: 2 }, { n: "x" }),
  approval: fc.constantFrom("policy" as const, "always" as const),
});
const strictness = { allow: 0, ask: 1, deny: 2 } as const;

describe("a stricter mode", () => {
  it("never allows what a milder one would not, whatever the policy, the tool and the call", () =>
    fc.assert(
      fc.property(document, call, fc.option(someModes, { nil: undefined }), (part, flat, ownModes) => {
        const policy = loaded(part);
        const answers = order.map((mode) => {
          const { decision, enforced } = decisionBy(
            policy,
            inputOf({ ...flat, mode, ...(ownModes && { modes: ownModes }) }),
          );
          return strictness[enforced ? decision : "allow"];
        });
        expect(answers).toEqual(answers.toSorted((a, b) => a - b));
      }),
      { numRuns: sized(1_000, 5_000) },
    ));

  it("asks about an observer that the policy names, and denies it where one effect writes or reaches the network", () => {
    const answers = (part: object, flat: Parameters<typeof inputOf>[0]): string =>
      decisionBy(loaded({ posture: "permissive", ...part }), inputOf({ mode: "LOCKDOWN", tier: 1, ...flat })).decision;
    const named = { tools: { pay: { modes: { lockdown: "ask" } } } };
    const read = ["db.read", "fs.read", "kv.read", "process.spawn"] as const;
    expect(answers(named, { effects: read })).toBe("ask");
    expect(answers({ ...named, enforcement: "observe" }, { effects: read })).toBe("ask");
    expect(answers(named, { effects: [] })).toBe("ask");
    expect(answers(named, { effects: [], tier: 0 })).toBe("allow");
    expect(answers({}, { effects: read })).toBe("deny");
    expect(answers({ tools: { other: named.tools.pay } }, { effects: read })).toBe("deny");
    expect(answers(named, { effects: read, tier: 2 })).toBe("deny");
    expect(answers(named, { effects: read, modes: ["NORMAL"] })).toBe("deny");
    const others = ["fs.write", "kv.write", "db.write", "net.read", "net.write", "browser.page"] as const;
    for (const effect of others) expect(answers(named, { effects: ["fs.read", effect] }), effect).toBe("deny");
  });

  it.each(["pay", "*"])("does not ask about a tool with a grant to %s that leaves arguments open", (tool) => {
    const document = (args: readonly unknown[]): unknown => ({
      version: "1",
      posture: "standard",
      grants: [{ tool, capability: { kind: "process.spawn", commands: [{ command: "ps", args }] } }],
      tools: { pay: { modes: { lockdown: "ask" } } },
    });
    expect(policyOf(document(["-e", { prefix: "/srv/" }])).ok).toBe(true);
    expect(policyOf(document(["-e", { rest: { prefix: "" } }]))).toMatchObject({
      ok: false,
      error: { path: "/tools/pay/modes/lockdown" },
    });
  });

  it("is one that a trigger may go to", () => {
    for (const [at, mode] of order.entries())
      for (const [other, to] of order.entries()) expect(isStricter(to, mode)).toBe(other > at);
  });
});

it("a trigger never lets a call run that was asked about before", async () => {
  const { kernel } = await openKernel({
    policy: { version: "1", posture: "permissive" },
    mode: "ALERT",
    modeTriggers: [{ on: "errors", codes: ["TOOL_ERROR"], count: 2, windowMs: 60_000, to: "DEGRADED" }],
  });
  kernel.registerTrusted(toolOf(() => "written", { name: "writer", tier: 1, effects: ["fs.write"] }));
  kernel.registerTrusted(
    toolOf(
      () => {
        throw new Error("no");
      },
      { name: "failing" },
    ),
  );
  const before = await kernel.call("writer", {});
  expect(before).toMatchObject({ ok: false });
  for (let i = 0; i < 2; i++) await kernel.call("failing", {});
  await expect.poll(() => kernel.mode).toBe("DEGRADED");
  expect(await kernel.call("writer", {})).toMatchObject({
    ok: false,
    error: { code: before.ok ? "" : before.error.code },
  });
});
