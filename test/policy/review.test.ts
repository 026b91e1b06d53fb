import * as fc from "fast-check";
import { type JsonValue, policy as policyOf, type PolicyRule } from "@keyhole/kernel";
import { explain, lintPolicy, locator, simulate, simulationTable } from "@keyhole/kernel/policy";
import { describe, expect, it, vi } from "vitest";
import { checkPolicy } from "../../packages/keyhole/src/command/policy/check.ts";
import { document, record } from "./recorded.ts";
import { denyWhen, loaded } from "./support.ts";

describe("explain", () => {
  it("says which rule decided and what would have to change", async () => {
    const { calls } = await record();
    const loadedPolicy = policyOf(document);
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
    expect(() => simulate(policy, [{ ...at(0, {}), time: "2026-04-31T00:00:00Z" }])).toThrow("a day of the calendar");
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

it("simulate decides about the input that the schema makes of it", async () => {
  const { manifest } = await record();
  const amount = { type: "number", default: 1_000 };
  const pay = { ...manifest, input: { type: "object", properties: { amount }, additionalProperties: false } };
  const policy = loaded({ rules: [denyWhen({ arguments: [{ at: "/amount", moreThan: 100 }] })] });
  const rows = simulate(
    policy,
    [{}, { amount: 50 }, { amount: 50, to: "eve" }].map((input, second) => {
      return { manifest: pay, input, time: `2026-01-01T00:00:0${second}Z` };
    }),
  );
  expect(rows.map(({ after, rules }) => [after, ...rules])).toEqual([["deny", "r"], ["allow"], ["deny"]]);
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
        rule("a", "allow", {
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
        rule("a", "allow", {
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
        rule("a", "allow", {
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
    ["incomplete", [rule("a", "deny", { path: ["/admin"] })], "a", null],
    ["incomplete", [rule("a", "deny", { arguments: [{ at: "/u", contains: "https://h.example/admin" }] })], "a", null],
    ["incomplete", [rule("a", "deny", { arguments: [{ at: "/u", endsWith: "/admin" }] })], "a", null],
  ] as const)("finds a rule that is %s: %j", (kind, rules, ruleId, by) => {
    const policy = loaded({ labels: { secret: {} }, rules });
    expect(lintPolicy(policy, ["x", "y"])).toMatchObject([{ kind, ruleId, by }]);
  });
  it("finds a deny of a number in a path, and none of a path beside a grant of paths", () => {
    const lint = (paths: readonly string[], path: string) =>
      lintPolicy(
        loaded({
          grants: [{ tool: "x", capability: { kind: "net.read", hosts: ["h.example"], paths } }],
          rules: [rule("a", "deny", { path: [path] })],
        }),
      );
    expect(lint(["/api"], "/api/users/7")).toMatchObject([{ kind: "incomplete", ruleId: "a" }]);
    expect(lint(["/api"], "/api/users7")).toEqual([]);
    expect(lint(["/"], "/api/users")).toMatchObject([{ kind: "incomplete" }]);
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
    expect(lintPolicy(loaded({ rules }), ["x", "y"])).toEqual([]);
  });
  const at = "/user";
  it.each<[readonly object[], JsonValue]>([
    [
      [
        { at, equals: "admin" },
        { at, differs: "admin" },
      ],
      "ADMIN",
    ],
    [
      [
        { at, in: [1] },
        { at, in: ["1"] },
      ],
      "1",
    ],
    [
      [
        { at, moreThan: 5 },
        { at, lessThan: 3 },
      ],
      "7",
    ],
  ])("says nothing of %j in a rule that denies %j", async (conditions, user) => {
    const policy = loaded({ rules: [rule("a", "deny", { arguments: conditions })] });
    expect(lintPolicy(policy)).toEqual([]);
    const { manifest } = await record();
    const [row] = simulate(policy, [{ manifest, input: { user }, time: "2026-01-01T00:00:00Z" }]);
    expect(row?.after).toBe("deny");
  });
  it("takes a passkey for more than an answer", () => {
    const passkey = { ...rule("b", "ask", { tool: ["x"] }), approver: "passkey" as const };
    const plain = rule("a", "ask", { tool: ["x"] });
    const among = (...rules: readonly PolicyRule[]) =>
      lintPolicy(loaded({ passkeys: testPasskeys, rules })).map(({ kind, ruleId }) => [kind, ruleId]);
    expect(among(rule("a", "ask", {}), passkey)).toEqual([]);
    expect(among(plain, passkey)).toEqual([["contradicting", "a"]]);
    expect(among(passkey, { ...passkey, id: "c" })).toEqual([["shadowed", "c"]]);
  });
});

/** As a document holds them. */
const testPasskeys = {
  rpId: "approvals.example.com",
  origins: ["https://approvals.example.com"],
  keys: [
    {
      approver: "ada",
      credentialId: "bm90LWEtcmVhbC1jcmVkZW50aWFs",
      publicKey: "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE",
    },
  ],
};

describe("a place in a policy's text", () => {
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
    expect(locator(text)(pointer)).toEqual({ line, column });
  });
  it("gives a place in a text of which a person typed a part, or typed over a part", () => {
    const places = fc.constantFrom("", "/a", '/a/1/b"c', "/rules/1", "/rules/1/when/tool", "/rules/7");
    const offset = fc.nat({ max: text.length });
    const typed = fc.string({ unit: fc.constantFrom("a", '"', "\\", "{", "[", "]", "}", ",", ":", "\n") });
    fc.assert(
      fc.property(places, offset, offset, typed, (pointer, from, to, letters) => {
        const half = text.slice(0, from) + letters + text.slice(to);
        const { line, column } = locator(half)(pointer);
        expect(half.split("\n")[line - 1]!.length + 1).toBeGreaterThanOrEqual(column);
      }),
    );
  });
  it("reads a text once, however many rules stand in it and shadow each other", async () => {
    const stepsOf = async (count: number): Promise<number> => {
      const rules = Array.from({ length: count }, (_, at) => ({
        id: `r${at}`,
        effect: "deny",
        reason: "x",
        when: { tool: ["a"] },
      }));
      const bytes = new TextEncoder().encode(JSON.stringify({ ...document, rules }));
      const parse = vi.spyOn(JSON, "parse");
      const files = {
        chunks: async function* () {
          yield bytes;
        },
        write: async () => {},
      };
      const { exitCode, output } = await checkPolicy("p.json", {}, files);
      expect([exitCode, output.trim().split("\n").length]).toEqual([1, count - 1]);
      const steps = parse.mock.calls.length;
      parse.mockRestore();
      return steps;
    };
    expect((await stepsOf(200)) - (await stepsOf(100))).toBeLessThan(150);
  });
});
