import type { ArgumentCondition, JsonValue, PolicyRule } from "@keyhole/kernel";
import { builtInFamilies, policy } from "@keyhole/kernel";
import { needOf } from "../support/grants.ts";
import { environmentSecrets } from "@keyhole/worker-host/node";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { pathMatcher } from "../../packages/kernel/src/capability/matching/paths.ts";
import { loadRule } from "../../packages/kernel/src/policy/decision/rule.ts";
import { blake3Hash } from "../../packages/kernel/src/hash/blake3-hash.ts";
import { decisionBy, denyWhen, inputOf, loaded } from "../policy/support.ts";
import { sized } from "../support/size.ts";

const spellings: readonly (readonly [string, JsonValue])[] = [
  ["main", "Main"],
  ["main", " main\n"],
  ["main", "ｍａｉｎ"],
  ["main", "ma\u200bin"],
  ["main", "m\u00adain"],
  ["café", "cafe\u0301"],
  ["straße", "STRASSE"],
  ["ΟΔΟΣ", "οδοσ"],
  ["file", "ﬁle"],
  ["1000", "1e3"],
  ["1000", 1_000],
  ["0", -0],
  ["0", "-0"],
  ["true", true],
];

describe("a rule reads a text of an argument", () => {
  const decision = (effect: PolicyRule["effect"], condition: ArgumentCondition, value: JsonValue): string => {
    const rule: PolicyRule = { id: "r", effect, when: { arguments: [condition] }, reason: "No." };
    return decisionBy(loaded({ posture: "standard", rules: [rule] }), inputOf({ tier: 2, input: { at: value } }))
      .decision;
  };

  it.each(spellings)("%j: a deny meets %j, in every operator, and an allow does not", (text, spelled) => {
    const at = "/at";
    expect(decision("deny", { at, equals: text }, spelled)).toBe("deny");
    expect(decision("deny", { at, in: ["other", text] }, spelled)).toBe("deny");
    expect(decision("allow", { at, equals: text }, spelled)).toBe("ask");
    expect(decision("allow", { at, in: ["other", text] }, spelled)).toBe("ask");
    // What is spared by a deny, and what an allow leaves out.
    expect(decision("deny", { at, differs: text }, spelled)).toBe("deny");
    expect(decision("deny", { at, notIn: [text] }, spelled)).toBe("deny");
    expect(decision("allow", { at, differs: text }, spelled)).toBe("ask");
    expect(decision("allow", { at, notIn: [text] }, spelled)).toBe("ask");
    if (typeof spelled !== "string") return;
    for (const condition of [
      { at, startsWith: text },
      { at, endsWith: text },
      { at, contains: text },
    ]) {
      if (/\d/.test(text) || spelled.includes(text)) continue;
      expect(decision("deny", condition, spelled), JSON.stringify(condition)).toBe("deny");
      expect(decision("allow", condition, spelled), JSON.stringify(condition)).toBe("ask");
    }
    expect(decision("deny", { at, contains: text }, [spelled])).toBe("deny");
    expect(decision("allow", { at, contains: text }, [spelled])).toBe("ask");
  });

  it("a number and an object the same way", () => {
    expect(decision("deny", { at: "/at", equals: 1_000 }, "1e3")).toBe("deny");
    expect(decision("deny", { at: "/at", equals: 1_000 }, " 1000.0 ")).toBe("deny");
    expect(decision("allow", { at: "/at", equals: 1_000 }, "1e3")).toBe("ask");
    expect(decision("deny", { at: "/at", equals: { to: ["Ada"] } }, { to: ["ADA "] })).toBe("deny");
    expect(decision("deny", { at: "/at", equals: "9007199254740993" }, "9007199254740992")).toBe(
      "allow-or-ask".slice(9),
    );
  });

  const sevens: readonly JsonValue[] = [
    "7x",
    "7-ada",
    "7,0",
    "7_0",
    "7;",
    "7/",
    "+7 apples",
    "07x",
    " ７x",
    "0x7g",
    "70e-1x",
    "7e0",
    [7],
    [["7-x"]],
  ];
  it.each(sevens.map((value) => [value] as const))("a deny of 7 meets %j, which readers take for it", (value) => {
    for (const wanted of [7, "7"]) {
      expect(decision("deny", { at: "/at", equals: wanted }, value)).toBe("deny");
      expect(decision("deny", { at: "/at", in: ["a", wanted] }, value)).toBe("deny");
      expect(decision("allow", { at: "/at", notIn: [wanted] }, value)).toBe("ask");
      expect(decision("allow", { at: "/at", equals: wanted }, value)).toBe("ask");
    }
    if (typeof value === "string") expect(decision("deny", { at: "/at", contains: "7" }, ["b", value])).toBe("deny");
    // It is no plain number, so a deny of another one meets it, too. Of a text only an array is not plain.
    expect(decision("deny", { at: "/at", equals: 8 }, value)).toBe("deny");
    expect(decision("deny", { at: "/at", equals: "7zip" }, value)).toBe(typeof value === "string" ? "ask" : "deny");
  });

  it("a deny of a number beyond 53 bits meets what is no plain number, and no other number", () => {
    const [one, other] = ["9007199254740993", "9007199254740992"];
    expect(decision("deny", { at: "/at", equals: one }, `${one}-x`)).toBe("deny");
    expect(decision("deny", { at: "/at", equals: one }, `${other}-x`)).toBe("deny");
    expect(decision("deny", { at: "/at", equals: one }, other)).toBe("ask");
  });

  it("a text of invisible characters alone means itself", () => {
    expect(decision("deny", { at: "/at", startsWith: "\u200b" }, "a")).toBe("ask");
    expect(decision("deny", { at: "/at", startsWith: "\u200b" }, "\u200ba")).toBe("deny");
    expect(decision("deny", { at: "/at", equals: "" }, "a")).toBe("ask");
  });

  it("a deny meets whatever an allow of the same words takes", () => {
    const value = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom(...spellings.flat()),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.jsonValue(),
    );
    const condition = fc.oneof(
      fc.record({ at: fc.constant("/at"), equals: value }),
      fc.record({ at: fc.constant("/at"), in: fc.array(value, { minLength: 1, maxLength: 3 }) }),
      fc.record({ at: fc.constant("/at"), startsWith: fc.string({ unit: "binary", minLength: 1, maxLength: 3 }) }),
      fc.record({ at: fc.constant("/at"), endsWith: fc.string({ unit: "binary", minLength: 1, maxLength: 3 }) }),
      fc.record({ at: fc.constant("/at"), contains: fc.string({ unit: "binary", minLength: 1, maxLength: 3 }) }),
    ) as fc.Arbitrary<ArgumentCondition>;
    fc.assert(
      fc.property(condition, value, fc.nat(), (given, input, at) => {
        const words = [given].flatMap((each) => ("equals" in each ? [each.equals] : "in" in each ? each.in : []));
        const asked = (words.length > 0 && at % 2 === 0 ? words[at % words.length]! : input) as JsonValue;
        fc.pre(policy({ version: "1", posture: "strict", rules: [denyWhen({ arguments: [given] })] }).ok);
        fc.pre(JSON.stringify(asked) !== undefined);
        if (decision("allow", given, asked) === "allow") expect(decision("deny", given, asked)).toBe("deny");
      }),
      { numRuns: sized(60, 10_000) },
    );
  });
});

describe("a rule about a version", () => {
  const decision = (effect: PolicyRule["effect"], range: string, version: string): string => {
    const rule: PolicyRule = { id: "r", effect, when: { version: range }, reason: "No." };
    return decisionBy(loaded({ rules: [rule] }), inputOf({ tier: 2, version })).decision;
  };
  it.each([
    ["1.x", "1.5.0-rc.1"],
    ["1", "1.0.0-0"],
    ["^1.2.0", "1.2.0-rc.1"],
    ["~2.1.0", "2.1.7-alpha"],
  ])("%s denies the pre-release %s, and allows it not", (range, version) => {
    expect(decision("deny", range, version)).toBe("deny");
    expect(decision("allow", range, version)).toBe("ask");
  });
  it("no range reaches beyond its end", () => {
    expect(decision("deny", "1.x", "2.0.0-rc.1")).toBe("ask");
    expect(decision("deny", "1.2.3", "1.2.3-rc.1")).toBe("ask");
    expect(decision("deny", "1.2.3", "1.2.3+build")).toBe("deny");
  });
});

describe("a secret has one name", () => {
  const rule = loadRule(denyWhen({ secret: ["api_key", "github_*"] }), builtInFamilies, blake3Hash);
  it.each(["api_key", "api-key", "API_KEY", "Api-Key", "GITHUB-TOKEN", "github-x"])("a deny meets %s", (name) => {
    expect(rule.concerns?.(needOf({ kind: "secret.use", name, host: "example.com" }))).toBe(true);
    // The environment takes all of them for one.
    expect(
      environmentSecrets({
        env: { KEYHOLE_SECRET_API_KEY: "a", KEYHOLE_SECRET_GITHUB_TOKEN: "a", KEYHOLE_SECRET_GITHUB_X: "a" },
      }).get(name),
    ).toBe("a");
  });
  it("and no other", () =>
    expect(rule.concerns?.(needOf({ kind: "secret.use", name: "apikey", host: "example.com" }))).toBe(false));
});

describe("a path of a file", () => {
  it.each([
    ["ΑΣ*", "ΑΣΒ"],
    ["ας*", "ΑΣΒ"],
    ["*ας", "ΒΑΣ"],
    ["ΟΔΟΣ/**", "οδοσ/a"],
  ])("a deny of %s meets %s", (glob, path) => {
    expect(pathMatcher([glob], "deny")(path)).toBe(true);
  });
});
