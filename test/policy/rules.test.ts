import {
  type ArgumentCondition,
  type JsonValue,
  loadPolicy,
  type PolicyRule,
  type RuleCondition,
} from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { openKernel, toolOf } from "../support/kernel.ts";
import { decisionBy, denyWhen, inputOf, loaded } from "./support.ts";

describe("an argument", () => {
  const input = {
    amount: 100,
    name: "Ada Lovelace",
    tags: ["a", "b"],
    nested: { "a/b": { "m~n": [1, { deep: true }] } },
    url: "https://User.Example.COM:8443/x?y#z",
    host: "api.example.com.",
    path: "notes/2026/a.md",
    nothing: null,
  };
  const at = (place: string, operator: Record<string, JsonValue>) => ({ at: place, ...operator }) as ArgumentCondition;

  it.each<[ArgumentCondition, boolean]>([
    [at("/amount", { equals: 100 }), true],
    [at("/amount", { equals: "100" }), false],
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
    [at("/name", { startsWith: "ada" }), false],
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
    [at("/path", { pathIn: ["notes/**"] }), true],
    [at("/path", { pathNotIn: ["notes/*"] }), true],
  ])("%j holds: %s", (condition, expected) => {
    const policy = loaded({ rules: [denyWhen({ arguments: [condition] })] });
    expect(decisionBy(policy, inputOf({ input })).decision).toBe(expected ? "deny" : "allow");
  });

  it.each<[Record<string, JsonValue>, JsonValue, string]>([
    [{ moreThan: 1 }, "1000", "NOT_A_NUMBER"],
    [{ atMost: 1 }, null, "NOT_A_NUMBER"],
    [{ startsWith: "a" }, ["a"], "NOT_A_TEXT"],
    [{ contains: "a" }, { a: 1 }, "NOT_A_TEXT"],
    [{ longerThan: 1 }, 5, "NO_LENGTH"],
    [{ hostIn: ["*.example.com"] }, 5, "NOT_A_HOST"],
    [{ hostIn: ["good.com"] }, "https://good.com@evil.com/", "NOT_A_HOST"],
    [{ hostIn: ["good.com"] }, "https://evil.com\\@good.com/", "NOT_A_HOST"],
    [{ hostNotIn: ["good.com"] }, "https://good.com\n.evil.com/", "NOT_A_HOST"],
    [{ hostIn: ["good.com"] }, "good.com/path", "NOT_A_HOST"],
    [{ hostIn: ["good.com"] }, "", "NOT_A_HOST"],
    [{ hostIn: ["good.com"] }, "foo://GOOD.com/", "NOT_A_HOST"],
    [{ pathIn: ["notes/**"] }, "notes/../secret", "NOT_A_PATH"],
    [{ pathNotIn: ["notes/**"] }, "notes\\a", "NOT_A_PATH"],
    [{ pathIn: ["notes/**"] }, "/notes/a", "NOT_A_PATH"],
    [{ pathIn: ["notes/**"] }, "notes/%2e%2e/a", "NOT_A_PATH"],
    [{ pathIn: ["notes/**"] }, "notes/a\0", "NOT_A_PATH"],
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

describe("a document", () => {
  const rule = (more: object, when: object = {}) => ({ rules: [{ ...denyWhen(when), ...more }] });
  const day = (time: object) => rule({}, { time });
  it.each<[string, object, string]>([
    ["a regular expression", rule({}, { arguments: [{ at: "/a", matches: ".*" }] }), "/rules/0/when/arguments/0"],
    ["two operators", rule({}, { arguments: [{ at: "/a", equals: 1, in: [1] }] }), "/rules/0/when/arguments/0"],
    ["no operator", rule({}, { arguments: [{ at: "/a" }] }), "/rules/0/when/arguments/0"],
    ["a pointer without a slash", rule({}, { arguments: [{ at: "a", equals: 1 }] }), "/rules/0/when/arguments/0/at"],
    ["a bad escape", rule({}, { arguments: [{ at: "/a~2", equals: 1 }] }), "/rules/0/when/arguments/0/at"],
    [
      "a host with a port",
      rule({}, { arguments: [{ at: "/a", hostIn: ["a.com", "b.com:1"] }] }),
      "/rules/0/when/arguments/0/hostIn/1",
    ],
    ["a Unicode host", rule({}, { host: ["bücher.example"] }), "/rules/0/when/host/0"],
    ["a host with a trailing dot", rule({}, { host: ["example.com."] }), "/rules/0/when/host/0"],
    ["a host with credentials", rule({}, { host: ["a@example.com"] }), "/rules/0/when/host/0"],
    ["a path that climbs", rule({}, { path: ["a/../b"] }), "/rules/0/when/path/0"],
    [
      "a path with a backslash",
      rule({}, { arguments: [{ at: "/a", pathIn: ["a\\b"] }] }),
      "/rules/0/when/arguments/0/pathIn/0",
    ],
    ["a path with NUL", rule({}, { path: ["a\0"] }), "/rules/0/when/path/0"],
    ["an allow about requests", rule({ effect: "allow" }, { host: ["example.com"] }), "/rules/0/effect"],
    ["a count of requests", rule({}, { method: ["GET"], count: { windowMs: 1, moreThan: 1 } }), "/rules/0/when/count"],
    ["a count with two limits", rule({}, { count: { windowMs: 1, moreThan: 1, atMost: 1 } }), "/rules/0/when/count"],
    ["a count without limit", rule({}, { count: { windowMs: 1 } }), "/rules/0/when/count"],
    [
      "a window of 32 days",
      rule({}, { count: { windowMs: 2_764_800_000, moreThan: 1 } }),
      "/rules/0/when/count/windowMs",
    ],
    ["no version", rule({}, { version: "latest" }), "/rules/0/when/version"],
    [
      "a window that never is",
      day({ after: "2026-01-02T00:00:00Z", before: "2026-01-01T00:00:00Z" }),
      "/rules/0/when/time/before",
    ],
    ["an empty window", day({ from: "08:00", to: "08:00" }), "/rules/0/when/time/to"],
    ["a time of 25:00", day({ from: "25:00" }), "/rules/0/when/time/from"],
    ["the 31st of February", day({ after: "2026-02-31T99:00:00Z" }), "/rules/0/when/time"],
    ["an unknown label", rule({}, { labels: ["gossip"] }), "/rules/0/when/labels/0"],
    [
      "labels in a circle",
      { labels: { a: { implies: ["b"] }, b: { implies: ["c"] }, c: { implies: ["a"] } } },
      "/labels/a/implies",
    ],
    ["a label that implies itself", { labels: { a: { implies: ["a"] } } }, "/labels/a/implies"],
    ["a label that implies nobody", { labels: { a: { implies: ["b"] } } }, "/labels/a/implies/0"],
    ["a tool named __proto__", JSON.parse('{"tools":{"__proto__":{}}}') as object, "/tools/__proto__"],
    ["a bad glob in tools", { tools: { x: { paths: { allowed: ["a**"] } } } }, "/tools/x/paths/allowed/0"],
    ["an unknown key in tools", { tools: { x: { colour: 1 } } }, "/tools/x"],
    ["a bound above its ceiling", { tools: { x: { bounds: { concurrency: 65 } } } }, "/tools/x/bounds/concurrency"],
    ["an unknown enforcement", { enforcement: "sometimes" }, "/enforcement"],
  ])("with %s is refused at its place", (_, part, path) => {
    const result = loadPolicy({ version: "1", posture: "standard", ...part });
    expect(result).toMatchObject({ ok: false, error: { code: "INVALID_POLICY" } });
    expect(result.ok || result.error.path).toContain(path);
    expect(result.ok || result.error.message.length).toBeGreaterThan(10);
  });

  it("of 10 MB is refused or loaded, never thrown", { timeout: 60_000 }, () => {
    const huge = {
      version: "1",
      posture: "standard",
      rules: Array.from({ length: 20_001 }, (_, i) => ({
        ...denyWhen({ caller: ["x".repeat(250)] }),
        id: `r${i}`,
        reason: "y".repeat(250),
      })),
    };
    expect(JSON.stringify(huge).length).toBeGreaterThan(10_000_000);
    expect(loadPolicy(huge)).toMatchObject({ ok: false, error: { path: "/rules" } });
    expect(loadPolicy({ ...huge, rules: huge.rules.slice(1) })).toMatchObject({ ok: true });
  });
});

describe("examples", () => {
  const pay = (examples: object) => ({
    version: "1",
    posture: "standard",
    rules: [
      {
        id: "large",
        effect: "ask",
        reason: "Large.",
        when: { tool: ["pay"], arguments: [{ at: "/amount", moreThan: 100 }] },
        examples,
      },
    ],
  });
  it("that turn out as they say load", () => {
    const match = [{ tool: "pay", arguments: { amount: 101 } }];
    const notMatch = [
      { tool: "pay", arguments: { amount: 100 } },
      { tool: "read", arguments: { amount: 101 } },
    ];
    expect(loadPolicy(pay({ match, notMatch }))).toMatchObject({ ok: true });
  });

  it.each([
    [{ match: [{ tool: "pay", arguments: { amount: 100 } }] }, "/rules/0/examples/match/0", "does not match"],
    [{ notMatch: [{}, { tool: "pay", arguments: { amount: 101 } }] }, "/rules/0/examples/notMatch/1", "matches it"],
    [{ match: [{ tool: "pay", arguments: { amount: "1e9" } }] }, "/rules/0/examples/match/0", "NOT_A_NUMBER"],
  ])("that do not refuse the document: %j", (examples, path, message) => {
    expect(loadPolicy(pay(examples))).toMatchObject({
      ok: false,
      error: { path, message: expect.stringContaining(message) },
    });
  });

  it("cover requests, counts, time and labels", () => {
    const document = {
      version: "1",
      posture: "standard",
      labels: { untrusted: {} },
      rules: [
        {
          ...denyWhen({ host: ["*.bad.com"], method: ["GET"] }),
          id: "a",
          examples: {
            match: [{ host: "x.bad.com" }],
            notMatch: [{ host: "bad.com" }, { host: "x.bad.com", method: "HEAD" }],
          },
        },
        {
          ...denyWhen({ path: ["secret/**"] }),
          id: "b",
          examples: { match: [{ path: "secret/a" }], notMatch: [{ path: "notes" }] },
        },
        {
          ...denyWhen({ count: { windowMs: 1000, moreThan: 2 } }),
          id: "c",
          examples: { match: [{ count: 2 }], notMatch: [{ count: 1 }] },
        },
        {
          ...denyWhen({ labels: ["untrusted"], time: { days: ["thu"] } }),
          id: "d",
          examples: {
            match: [{ labels: ["untrusted"] }],
            notMatch: [{ labels: ["untrusted"], time: "2026-01-02T00:00:00Z" }],
          },
        },
      ],
    };
    expect(loadPolicy(document)).toMatchObject({ ok: true });
  });
});

describe("variables", () => {
  const document = {
    version: "1",
    posture: "standard",
    grants: [{ tool: "read", capability: { kind: "fs.read", paths: ["${HOME}/notes/**"] } }],
  };
  it("are filled in before anything is checked or hashed", () => {
    const one = loadPolicy(document, { HOME: "users/ada" });
    expect(one.ok && one.value.grants("read", "x")).toEqual([{ kind: "fs.read", paths: ["users/ada/notes/**"] }]);
    const two = loadPolicy(document, { HOME: "users/eve" });
    expect(one.ok && two.ok && one.value.hash !== two.value.hash).toBe(true);
  });
  it.each([
    ["unknown", {}],
    ["empty", { HOME: "" }],
    ["a wildcard", { HOME: "users/*" }],
    ["climbing", { HOME: "../.." }],
    ["inherited", Object.create({ HOME: "x" }) as Record<string, string>],
  ])("that are %s refuse the document", (_, variables) => {
    expect(loadPolicy(document, variables)).toMatchObject({
      ok: false,
      error: { path: expect.stringContaining("/grants/0/capability") },
    });
  });
  it("hold for policies that are set later", async () => {
    const { kernel } = await openKernel({ policyVariables: { HOME: "users/ada" } });
    expect(await kernel.setPolicy(document)).toMatchObject({ ok: true });
  });
});

describe("observe", () => {
  const policy = { version: "1", posture: "strict", enforcement: "observe", rules: [denyWhen({})] };
  it("records what would have been decided, and lets the call go on", async () => {
    const { kernel } = await openKernel({ policy });
    kernel.register(toolOf(() => 1, { tier: 4 }));
    expect(await kernel.call("subject", {})).toMatchObject({
      ok: true,
      proof: { decision: "deny", enforced: false, reasonCode: "rule", determining: [{ ruleId: "r" }] },
    });
  });
  it.each([
    ["the mode", { mode: "LOCKDOWN" }, {}, "mode"],
    ["the tool's modes", {}, { modes: ["ALERT"] }, "tool-mode"],
    ["the tool's approval", {}, { approval: "always" }, "tool-approval"],
  ] as const)("does not lift %s", async (_, options, more, reasonCode) => {
    const { kernel } = await openKernel({ policy, ...options });
    kernel.register(toolOf(() => 1, { tier: 1, ...more }));
    expect(await kernel.call("subject", {})).toMatchObject({ ok: false, proof: { enforced: true, reasonCode } });
  });
});
