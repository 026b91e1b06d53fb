import { type ArgumentCondition, loadPolicy, type Policy, type PolicyRule } from "@keyhole/kernel";
import { diffPolicies } from "@keyhole/kernel/policy";
import { describe, expect, it } from "vitest";

function policyOf(rules: readonly PolicyRule[]): Policy {
  const loaded = loadPolicy({ version: "1", posture: "standard", rules });
  if (!loaded.ok) throw new TypeError(`${loaded.error.path}: ${loaded.error.message}`);
  return loaded.value;
}

const diff = (a: readonly PolicyRule[], b: readonly PolicyRule[]) => diffPolicies(policyOf(a), policyOf(b));

describe("the difference of two policies in a text with several readings", () => {
  const rule = (id: string, ...operators: readonly object[]): PolicyRule => ({
    id,
    effect: "deny",
    when: { arguments: operators.map((each) => ({ at: "/a", ...each }) as ArgumentCondition) },
    reason: "x",
  });
  const others = rule("others", { startsWith: "~~" });
  const added = (...operators: readonly object[]) => diff([others], [others, rule("added", ...operators)]);

  it("shows a text that only together fulfil two conditions", () => {
    const { denies, capped } = added({ startsWith: "x" }, { startsWith: "y" });
    expect(capped).toEqual([]);
    expect(denies.map(({ example }) => example.arguments)).toContainEqual({ a: "x/../y" });
  });

  it("says that it may differ where it knows no such text", () => {
    const { differs, capped } = added({ startsWith: "X" }, { equals: "x y" }, { equals: "x z" });
    expect([differs, capped.map(({ dimension }) => dimension)]).toEqual([false, ["argument /a"]]);
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
