import { checkHostPattern, hostMatcher, plainHost } from "../../packages/kernel/src/capability/matching/hosts.ts";
import { builtInFamilies, matchHost, type PolicyRule } from "@keyhole/kernel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type DecisionInput, holdsAll } from "../../packages/kernel/src/policy/decision/condition.ts";
import { sized } from "../support/size.ts";
import { checkChains } from "./chains.ts";
import { decisionBy, denyWhen, inputOf, loaded } from "./support.ts";

const some = <T>(...values: T[]) => fc.option(fc.subarray(values, { minLength: 1 }), { nil: undefined });
const value = fc.constantFrom<unknown>(0, 1, 2, "a", "b", null, true, "x.example.com", "notes/a");
const argument = fc.oneof(
  fc.record({ at: fc.constantFrom("/n", "/s", "/o/n"), equals: value }),
  fc.record({ at: fc.constantFrom("/n", "/s"), in: fc.array(value, { minLength: 1, maxLength: 3 }) }),
  fc.record({ at: fc.constantFrom("/n", "/s"), notIn: fc.array(value, { minLength: 1, maxLength: 3 }) }),
  fc.record({ at: fc.constantFrom("/n", "/s"), moreThan: fc.constantFrom(0, 1) }),
  fc.record({ at: fc.constant("/s"), hostIn: fc.constant(["*.example.com"]) }),
  fc.record({ at: fc.constant("/s"), pathNotIn: fc.constant(["notes/**"]) }),
);
const when = fc
  .record({
    tool: some("pay", "read"),
    caller: some("ada", "eve"),
    session: some("s", "t"),
    category: some("web"),
    tier: some(0, 1, 2, 3, 4),
    mode: some("NORMAL", "ALERT"),
    version: fc.constantFrom(undefined, "^1.0.0", "2.x"),
    arguments: fc.option(fc.array(argument, { minLength: 1, maxLength: 2 }), { nil: undefined }),
    count: fc.constantFrom(undefined, { windowMs: 1_000, moreThan: 2 }, { windowMs: 1_000, atMost: 2 }),
  })
  .map((conditions) => Object.fromEntries(Object.entries(conditions).filter(([, each]) => each !== undefined)));
const rules = fc
  .array(fc.record({ effect: fc.constantFrom("allow" as const, "ask" as const, "deny" as const), when }), {
    maxLength: 8,
  })
  .map((list) => list.map((rule, index): PolicyRule => ({ id: `r${index}`, reason: "x", ...rule })));
const input: fc.Arbitrary<DecisionInput> = fc
  .record({
    name: fc.constantFrom("pay", "read"),
    version: fc.constantFrom("1.0.0", "2.3.4"),
    tier: fc.constantFrom(0 as const, 1 as const, 2 as const, 4 as const),
    category: fc.constantFrom("web", "files"),
    caller: fc.constantFrom("ada", "eve"),
    sessionId: fc.constantFrom("s", "t"),
    mode: fc.constantFrom("NORMAL" as const, "ALERT" as const),
    input: fc.record({ n: value, s: value, o: fc.record({ n: value }) }, { requiredKeys: [] }),
  })
  .map((flat) => inputOf(flat as never));
const counted = fc.nat(4);

describe("for any policy and call", () => {
  it("order and duplicates of rules change nothing", () => {
    fc.assert(
      fc.property(rules, input, counted, fc.infiniteStream(fc.nat(1_000)), (list, call, before, random) => {
        const once = decisionBy(loaded({ rules: list }), call, () => before);
        const order = list.map((rule) => ({ rule, at: random.next().value })).toSorted((a, b) => a.at - b.at);
        const shuffled = decisionBy(loaded({ rules: order.map(({ rule }) => rule) }), call, () => before);
        expect(shuffled).toEqual({ ...once, determining: shuffled.determining, charges: expect.anything() });
        expect(shuffled.determining.map(({ hash }) => hash)).toEqual(once.determining.map(({ hash }) => hash));
        const twice = [...list, ...list.map((rule) => ({ ...rule, id: `${rule.id}-again` }))];
        expect(decisionBy(loaded({ rules: twice }), call, () => before)).toMatchObject({
          decision: once.decision,
          reasonCode: once.reasonCode,
        });
      }),
      { numRuns: sized(150, 1_000) },
    );
  });

  it("the index finds what a scan finds", () => {
    fc.assert(
      fc.property(rules, input, (list, call) => {
        const policy = loaded({ rules: list.filter(({ when: { count } }) => !count) });

        const scanned = policy.rules.filter(({ tests }) => holdsAll(tests, call) === true).map(({ rule }) => rule.id);
        const found = policy
          .candidates(call)
          .filter(({ tests }) => holdsAll(tests, call) === true)
          .map(({ rule }) => rule.id);
        expect(found.toSorted()).toEqual(scanned.toSorted());
      }),
      { numRuns: sized(150, 1_000) },
    );
  });

  it("adding a deny never allows more", () => {
    const strictness = { allow: 0, ask: 1, deny: 2 };
    fc.assert(
      fc.property(rules, when, input, counted, (list, more, call, before) => {
        const one = decisionBy(loaded({ rules: list }), call, () => before);
        const two = decisionBy(loaded({ rules: [...list, denyWhen(more, "more")] }), call, () => before);
        expect(strictness[two.decision]).toBeGreaterThanOrEqual(strictness[one.decision]);
      }),
      { numRuns: sized(150, 1_000) },
    );
  });

  it("no rule lifts a posture's deny, and no policy a mode's", () => {
    fc.assert(
      fc.property(rules, input, counted, (list, call, before) => {
        const verdict = decisionBy(loaded({ posture: "strict", rules: list }), call, () => before);
        if (call.manifest.tier === 4) expect(verdict.decision).toBe("deny");
        const locked = decisionBy(
          loaded({ posture: "permissive", enforcement: "observe", rules: list }),
          { ...call, mode: "LOCKDOWN" },
          () => before,
        );
        if (call.manifest.tier > 0) expect(locked).toMatchObject({ decision: "deny", enforced: true });
      }),
      { numRuns: sized(150, 500) },
    );
  });
});

describe("for any chain of attenuations", () => {
  it("a child covers nothing that its parent does not, whatever the kind", () => {
    const { counterexample, covered, kinds } = checkChains(sized(4_000, 10_000), 46);
    expect(counterexample).toBeUndefined();
    expect(covered).toBeGreaterThan(100);
    expect(kinds.size).toBe(builtInFamilies.kinds.length);
  });
});

describe("for any host and patterns", () => {
  const label = fc.constantFrom("a", "b", "example", "com", "localhost", "internal", "xn--bcher-kva");
  const host = fc.oneof(
    fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join(".")),
    fc.constantFrom("127.0.0.1", "[::1]", "8.8.8.8"),
  );
  const isOwnMachine = (each: string): boolean => /^(?:127\.0\.0\.1|\[::1\])$|^(?!\*).*\blocalhost$/.test(each);
  it("many patterns at once match as each alone, and what forbids takes all names of this machine for one", () => {
    const pattern = fc.oneof(
      host,
      host.map((each) => `*.${each}`),
      fc.constant("*"),
    );
    fc.assert(
      fc.property(fc.array(pattern, { maxLength: 5 }), host, fc.boolean(), (patterns, asked, isReached) => {
        expect(hostMatcher(patterns)(asked, isReached)).toBe(
          patterns.some(
            (each) => matchHost(each, asked, isReached) || (isReached && isOwnMachine(each) && isOwnMachine(asked)),
          ),
        );
      }),
      { numRuns: sized(300, 3_000) },
    );
  });

  const forms = (v4: string): string[] =>
    [`[::ffff:${v4}]`, `[::${v4}]`, `[64:ff9b::${v4}]`, `[2001:db8::5efe:${v4}]`].map(
      (each) => new URL(`http://${each}/`).hostname,
    );
  it("what forbids any meets each address that carries another, and no document names one", () => {
    const address = fc.ipV4().filter((each) => !/^(?:127|0)\./.test(each));
    fc.assert(
      fc.property(address, fc.nat(3), (v4, one) => {
        const carrier = forms(v4)[one]!;
        const matches = hostMatcher([v4]);
        expect([matches(carrier, true), matches(carrier, false), hostMatcher([])(carrier, true)]).toEqual([
          true,
          false,
          false,
        ]);
        expect(checkHostPattern(carrier)).toBe("the IPv6 address carries an IPv4 address");
        expect(plainHost(carrier)).toHaveProperty("fault");
      }),
      { numRuns: sized(100, 1_000) },
    );
  });
});
