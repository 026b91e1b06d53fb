import { type ArgumentCondition, policy, type Policy, type PolicyRule } from "@keyhole/kernel";
import { diffPolicies } from "@keyhole/kernel/policy";
import { describe, expect, it } from "vitest";

function policyOf(rules: readonly PolicyRule[]): Policy {
  const loaded = policy({ version: "1", posture: "standard", rules });
  if (!loaded.ok) throw new TypeError(`${loaded.error.path}: ${loaded.error.message}`);
  return loaded.value;
}

const diff = (a: readonly PolicyRule[], b: readonly PolicyRule[]) => diffPolicies(policyOf(a), policyOf(b));

describe("the difference of two policies in a text, which has one reading", () => {
  const rule = (id: string, ...operators: readonly object[]): PolicyRule => ({
    id,
    effect: "deny",
    when: { arguments: operators.map((each) => ({ at: "/a", ...each }) as ArgumentCondition) },
    reason: "x",
  });
  const others = rule("others", { startsWith: "~~" });
  const added = (...operators: readonly object[]) => diff([others], [others, rule("added", ...operators)]);

  it("is none in conditions that no text fulfils together", () => {
    expect(added({ startsWith: "x" }, { startsWith: "y" })).toMatchObject({ differs: false, capped: [] });
    expect(added({ startsWith: "X" }, { equals: "x y" }, { equals: "x z" })).toMatchObject({
      differs: false,
      capped: [],
    });
  });

  it("shows a text of which one begins as written, and the other by its key", () => {
    const allow: PolicyRule = { ...rule("allow", { startsWith: "x" }), effect: "allow" };
    const both = diff([allow], [allow, rule("deny", { startsWith: "xyz" })]);
    expect(both.capped).toEqual([]);
    expect(both.denies.map(({ example }) => example.arguments)).toContainEqual({ a: "xyz" });
    expect(
      diff(
        [allow, rule("deny", { startsWith: "xyz" })],
        [allow, rule("deny", { startsWith: "xyz" }, { differs: "xYZ" })],
      ).differs,
    ).toBe(true);
  });

  it("is one where only a text that is not plain tells the policies apart", () => {
    expect(diff([rule("one", { equals: "x" })], [rule("one", { in: ["x", 7] })]).differs).toBe(true);
    expect(diff([rule("one", { equals: "7" })], [rule("one", { equals: "7" }, { longerThan: 1 })]).differs).toBe(true);
  });

  it("is none where another rule covers every reading", () => {
    const covering = [others, rule("covering", { startsWith: "secret/" })];
    const rules = [...covering, rule("more", { startsWith: "secret/" }, { endsWith: ".key" })];
    expect(diff(covering, rules)).toMatchObject({ differs: false, capped: [] });
  });

  it("is one where a grant by another text takes away what a reading is", () => {
    const allow = (...operators: readonly object[]): PolicyRule => ({ ...rule("a", ...operators), effect: "allow" });
    const { differs, capped } = diff([allow({ startsWith: "./" })], [allow({ startsWith: "./" }, { differs: "a" })]);
    expect(differs || capped.length > 0).toBe(true);
  });
});
