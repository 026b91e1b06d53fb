import type { ArgumentCondition, JsonValue, PolicyRule, RuleCondition } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { decisionBy, denyWhen, inputOf, loaded } from "./support.ts";

describe("an argument", () => {
  const input = {
    amount: 100,
    name: "Ada Lovelace",
    tags: ["a", "b"],
    nested: { "a/b": { "m~n": [1, { deep: true }] } },
    url: "https://User.Example.COM:8443/x?y#z",
    host: "api.example.com.",
    sharp: "https://example.com/a\u00df%2F?b=%C3%9F",
    path: "notes/2026/a.md",
    nothing: null,
  };
  const at = (place: string, operator: Record<string, JsonValue>) => ({ at: place, ...operator }) as ArgumentCondition;

  it.each<[ArgumentCondition, boolean]>([
    [at("/amount", { equals: 100 }), true],
    [at("/amount", { equals: "100" }), true],
    [at("/amount", { equals: "101" }), false],
    [at("/amount", { differs: 100 }), false],
    [at("/amount", { in: [1, 100] }), true],
    [at("/amount", { notIn: [1, 100] }), false],
    [at("/amount", { lessThan: 100 }), false],
    [at("/amount", { lessThan: 100.5 }), true],
    [at("/amount", { atMost: 100 }), true],
    [at("/amount", { atMost: 99 }), false],
    [at("/amount", { moreThan: 99 }), true],
    [at("/amount", { moreThan: 100 }), false],
    [at("/amount", { atLeast: 100 }), true],
    [at("/amount", { atLeast: 101 }), false],
    [at("/name", { startsWith: "Ada" }), true],
    [at("/name", { startsWith: "ada" }), true],
    [at("/name", { startsWith: "adam" }), false],
    [at("/name", { endsWith: "lace" }), true],
    [at("/name", { contains: "Love" }), true],
    [at("/name", { longerThan: 11 }), true],
    [at("/name", { longerThan: 12 }), false],
    [at("/tags", { contains: "b" }), true],
    [at("/tags", { contains: "c" }), false],
    [at("/tags", { longerThan: 1 }), true],
    [at("/tags", { equals: ["a", "b"] }), true],
    [at("/tags", { equals: ["b", "a"] }), false],
    [at("/tags/0", { equals: "a" }), true],
    [at("/tags/00", { exists: true }), false],
    [at("/tags/length", { exists: true }), false],
    [at("/tags/2", { exists: false }), true],
    [at("/nested/a~1b/m~0n/1/deep", { equals: true }), true],
    [at("/nested/a~1b", { equals: { "m~n": [1, { deep: true }] } }), true],
    [at("", { exists: true }), true],
    [at("/nothing", { equals: null }), true],
    [at("/absent", { exists: true }), false],
    [at("/absent", { exists: false }), true],
    [at("/absent", { equals: 1 }), false],
    [at("/absent", { differs: 1 }), true],
    [at("/absent", { in: [1] }), false],
    [at("/absent", { notIn: [1] }), true],
    [at("/absent", { moreThan: 1 }), false],
    [at("/absent", { hostIn: ["*"] }), false],
    [at("/absent", { hostNotIn: ["*"] }), true],
    [at("/absent", { pathNotIn: ["**"] }), true],
    [at("/toString", { exists: true }), false],
    [at("/__proto__", { exists: true }), false],
    [at("/url", { hostIn: ["user.example.com"] }), true],
    [at("/url", { hostIn: ["*.example.com"] }), true],
    [at("/url", { hostNotIn: ["*.example.com"] }), false],
    [at("/url", { hostIn: ["example.com"] }), false],
    [at("/host", { hostIn: ["*.example.com"] }), true],
    [at("/sharp", { hostIn: ["example.com"] }), true],
    [at("/path", { pathIn: ["notes/**"] }), true],
    [at("/path", { pathNotIn: ["notes/*"] }), true],
  ])("%j holds: %s", (condition, expected) => {
    const policy = loaded({ rules: [denyWhen({ arguments: [condition] })] });
    expect(decisionBy(policy, inputOf({ input })).decision).toBe(expected ? "deny" : "allow");
  });

  it("forbids this machine under each of its names and addresses, and grants one alone", () => {
    const names = [
      "localhost",
      "a.localhost",
      "127.0.0.1",
      "127.1",
      "0",
      "0.0.0.0",
      "[::]",
      "[::1]",
      "[::ffff:127.9.0.1]",
    ];
    const decide = (effect: PolicyRule["effect"], host: string, x: string) =>
      decisionBy(
        loaded({ rules: [{ ...denyWhen({ arguments: [at("/x", { hostIn: [host] })] }), effect }] }),
        inputOf({ input: { x }, tier: 2 }),
      ).decision;
    for (const host of ["localhost", "127.0.0.1", "[::1]", "0.0.0.0"])
      for (const x of [...names, ...names.map((each) => `https://${each}:8443/`)])
        expect(decide("deny", host, x)).toBe("deny");
    expect(names.filter((x) => decide("allow", "127.0.0.1", x) === "allow")).toEqual(["127.0.0.1", "127.1"]);
    expect(decide("deny", "localhost", "localhost.example.com")).toBe("ask");
  });

  it.each<[Record<string, JsonValue>, JsonValue, string]>([
    [{ moreThan: 1 }, "1000", "NOT_A_NUMBER"],
    [{ atMost: 1 }, null, "NOT_A_NUMBER"],
    [{ startsWith: "a" }, ["a"], "NOT_A_TEXT"],
    [{ contains: "a" }, { a: 1 }, "NOT_A_TEXT"],
    [{ contains: "a" }, [["a"]], "NOT_A_TEXT"],
    [{ contains: "a" }, ["b", { name: "a" }], "NOT_A_TEXT"],
    [{ longerThan: 1 }, 5, "NO_LENGTH"],
    [{ hostIn: ["*.example.com"] }, 5, "NOT_A_TEXT"],
    [{ pathNotIn: ["notes/**"] }, 5, "NOT_A_TEXT"],
    [{ hostIn: ["good.com"] }, "https://good.com@evil.com/", "NOT_PLAIN"],
    [{ hostIn: ["good.com"] }, "https://evil.com\\@good.com/", "NOT_PLAIN"],
    [{ hostNotIn: ["good.com"] }, "https://good.com\n.evil.com/", "NOT_PLAIN"],
    [{ hostIn: ["good.com"] }, "good.com/path", "NOT_PLAIN"],
    [{ hostIn: ["good.com"] }, "", "NOT_PLAIN"],
    [{ hostIn: ["good.com"] }, "foo://GOOD.com/", "NOT_PLAIN"],
    // Two generations of IDNA read these as different names.
    ...[
      "fa\u00df.de",
      "fa%C3%9F.de",
      "\u1e9e.de",
      "\u03bb\u03cc\u03b3\u03bf\u03c2.gr",
      "a\u0915\u094d\u200db.in",
      "a\u0646\u0627\u0645\u0647\u200c\u0627.ir",
    ]
      .flatMap((name) => [name, `${name}:8443`, `https://${name}/`, `https:${name}/?a://b`])
      .flatMap((text): [Record<string, JsonValue>, JsonValue, string][] => [
        [{ hostIn: ["fass.de"] }, text, "NOT_PLAIN"],
        [{ hostNotIn: ["fass.de"] }, text, "NOT_PLAIN"],
      ]),
    ...[
      "postgres://0x7f.1/db",
      "postgres://good.com/db?host=evil.com",
      "postgres://good.com/db?hostaddr=127.0.0.1",
      "postgres://good.com,evil.com/db",
      "sqlserver://good.com:1433/a;server=evil.com",
      "ldap://good.com/cn=evil.com",
      "ssh://good.com/#evil.com",
      "redis://good.com/%3fhost",
      "jdbc:postgresql://good.com/db",
    ].flatMap((text): [Record<string, JsonValue>, JsonValue, string][] => [
      [{ hostIn: ["evil.com"] }, text, "NOT_PLAIN"],
      [{ hostNotIn: ["evil.com"] }, text, "NOT_PLAIN"],
    ]),
    [{ pathIn: ["notes/**"] }, "notes/../secret", "NOT_PLAIN"],
    [{ pathNotIn: ["notes/**"] }, "notes\\a", "NOT_PLAIN"],
    [{ pathIn: ["notes/**"] }, "/notes/a", "NOT_PLAIN"],
    [{ pathIn: ["notes/**"] }, "notes/%2e%2e/a", "NOT_PLAIN"],
    [{ pathIn: ["notes/**"] }, "notes/a\0", "NOT_PLAIN"],
  ])("%j of %j errs: a deny and an ask stand, an allow does not", (operator, value, code) => {
    const condition = at("/x", operator);
    const input = inputOf({ input: { x: value }, tier: 2 });
    const by = (effect: PolicyRule["effect"]) =>
      decisionBy(loaded({ rules: [{ ...denyWhen({ arguments: [condition] }), effect }] }), input);
    expect(by("deny")).toMatchObject({
      decision: "deny",
      reasonCode: "rule-error",
      errors: [{ ruleId: "r", code }],
      determining: [{ rule: { id: "r" } }],
    });
    expect(by("ask")).toMatchObject({ decision: "ask", reasonCode: "rule-error", errors: [{ code }] });
    expect(by("allow")).toMatchObject({ decision: "ask", reasonCode: "posture", errors: [{ code }] });
  });

  it.each<[Record<string, JsonValue>, JsonValue]>([
    [{ equals: "a" }, ["b"]],
    [{ equals: "a" }, "\u0001"],
    [{ in: [7, "x"] }, "8x"],
    [{ in: ["a", { b: "https://h/" }] }, { b: "h" }],
    [{ startsWith: "/a/" }, "/b//c"],
  ])("%j of %j is no plain value: a deny and an ask stand, and what is written does not agree", (operator, x) => {
    const by = (effect: PolicyRule["effect"]) =>
      decisionBy(
        loaded({ rules: [{ ...denyWhen({ arguments: [at("/x", operator)] }), effect }] }),
        inputOf({ input: { x }, tier: 2 }),
      );
    const errors = [{ ruleId: "r", code: "NOT_PLAIN" }];
    for (const effect of ["deny", "ask"] as const)
      expect(by(effect)).toMatchObject({ decision: effect, reasonCode: "rule-error", errors });
    expect(by("allow")).toMatchObject({ decision: "ask", reasonCode: "posture", errors: [] });
  });

  it("is read anew for each place that rules name, and for each call", () => {
    const tests = [["/a", 1] as const, ["/b", 1] as const, ["/a", 3] as const];
    const rules = tests.map(([place, moreThan], i) => denyWhen({ arguments: [at(place, { moreThan })] }, `r${i}`));
    const policy = loaded({ rules });
    const denying = (values: Record<string, number>) =>
      decisionBy(policy, inputOf({ input: values })).determining.map(({ rule }) => rule.id);
    expect(denying({ a: 2, b: 1 })).toEqual(["r0"]);
    expect(denying({ a: 4, b: 2 })).toEqual(["r0", "r1", "r2"]);
    expect(denying({ b: 2 })).toEqual(["r1"]);
  });

  it("that errs does not matter where another condition does not hold", () => {
    const rule = denyWhen({ arguments: [at("/x", { moreThan: 1 })], caller: ["eve"] });
    expect(decisionBy(loaded({ rules: [rule] }), inputOf({ input: { x: "?" } }))).toMatchObject({
      decision: "allow",
      errors: [],
    });
  });
});

describe("a condition", () => {
  const manifest = { version: "1.4.2", category: "web", risk: "high", effects: ["net.read"] } as const;
  it.each<[RuleCondition, boolean]>([
    [{ version: "^1.4.0" }, true],
    [{ version: "1.4.2" }, true],
    [{ version: "~1.3.0" }, false],
    [{ category: ["web"] }, true],
    [{ category: ["files"] }, false],
    [{ risk: ["high", "critical"] }, true],
    [{ risk: ["low"] }, false],
    [{ effects: ["net.write"] }, false],
    [{ effects: ["net.write", "net.read"] }, true],
    [{ capability: ["net.read"] }, true],
    [{ capability: ["fs.read"] }, false],
    [{ labels: ["untrusted"] }, true],
    [{ labels: ["secret"] }, false],
    [{ session: ["s"] }, true],
    [{ session: ["t"] }, false],
    [{ mode: ["NORMAL"] }, true],
    [{ mode: ["ALERT"] }, false],
  ])("%j holds: %s", (when, expected) => {
    const policy = loaded({ labels: { untrusted: {}, secret: {} }, rules: [denyWhen(when)] });
    const input = inputOf({ ...manifest, sessionId: "s", granted: ["net.read"], labels: ["untrusted"] });
    expect(decisionBy(policy, input).decision).toBe(expected ? "deny" : "allow");
  });

  // 2026-11-20 is a Friday.
  it.each<[RuleCondition["time"], string, boolean]>([
    [{ days: ["fri"] }, "2026-11-20T23:59:59.999Z", true],
    [{ days: ["fri"] }, "2026-11-21T00:00:00Z", false],
    [{ from: "08:00", to: "18:00" }, "2026-11-20T08:00:00Z", true],
    [{ from: "08:00", to: "18:00" }, "2026-11-20T07:59:59.999Z", false],
    [{ from: "08:00", to: "18:00" }, "2026-11-20T17:59:59.999Z", true],
    [{ from: "08:00", to: "18:00" }, "2026-11-20T18:00:00Z", false],
    [{ from: "18:00", to: "08:00" }, "2026-11-20T23:00:00Z", true],
    [{ from: "18:00", to: "08:00" }, "2026-11-20T07:59:00Z", true],
    [{ from: "18:00", to: "08:00" }, "2026-11-20T08:00:00Z", false],
    // Behind midnight the window is that of the day before.
    [{ days: ["fri"], from: "18:00", to: "08:00" }, "2026-11-20T18:00:00Z", true],
    [{ days: ["fri"], from: "18:00", to: "08:00" }, "2026-11-21T07:59:59.999Z", true],
    [{ days: ["fri"], from: "18:00", to: "08:00" }, "2026-11-21T08:00:00Z", false],
    [{ days: ["fri"], from: "18:00", to: "08:00" }, "2026-11-20T02:00:00Z", false],
    [{ days: ["fri"], from: "18:00", to: "08:00" }, "2026-11-21T18:00:00Z", false],
    [{ days: ["wed"], from: "18:00", to: "08:00", utcOffsetMinutes: 60 }, "1970-01-01T06:59:00Z", true],
    [{ from: "12:00" }, "2026-11-20T23:59:59.999Z", true],
    [{ days: ["sat"], utcOffsetMinutes: 60 }, "2026-11-20T23:00:00Z", true],
    [{ days: ["thu"], utcOffsetMinutes: -300 }, "2026-11-20T04:59:00Z", true],
    [{ after: "2026-11-20T12:00:00Z" }, "2026-11-20T12:00:00Z", true],
    [{ before: "2026-11-20T12:00:00+01:00" }, "2026-11-20T11:00:00Z", false],
    [{ days: ["wed"] }, "1969-12-31T12:00:00Z", true],
  ])("in time %j at %s holds: %s", (time, instant, expected) => {
    const policy = loaded({ rules: [denyWhen({ time: time! })] });
    expect(decisionBy(policy, inputOf({ nowMs: Date.parse(instant) })).decision).toBe(expected ? "deny" : "allow");
  });
});
