import { createKernel, policy as policyOf, patternFault } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";

/*
 * The texts about policies, each once. Other tests assert codes and paths.
 */

describe("the refusal of a policy", () => {
  const asks = { id: "large", effect: "ask", reason: "Large." } as const;
  const when = { tool: ["pay"], arguments: [{ at: "/amount", moreThan: 100 }] };

  it.each<[string, object, RegExp]>([
    [
      "whose rule does not match its example",
      { match: [{ tool: "pay", arguments: { amount: 100 } }] },
      /does not match/,
    ],
    [
      "whose rule matches an example that it must not match",
      { notMatch: [{}, { tool: "pay", arguments: { amount: 101 } }] },
      /matches it/,
    ],
    ["whose example has text for a number", { match: [{ tool: "pay", arguments: { amount: "1e9" } }] }, /NOT_A_NUMBER/],
  ])("%s", (_, examples, message) => {
    const policy = { version: "1", posture: "standard", rules: [{ ...asks, when, examples }] };
    expect(policyOf(policy)).toMatchObject({ error: { message: expect.stringMatching(message) } });
  });
});

it("the fault of a malformed pattern names the pattern, and no rule", () => {
  const asked = { approvalId: "a", tool: "t@1.0.0", sessionId: "s", caller: "c", input: {} };
  const fault = patternFault(asked, [{ at: "/a", matches: ".*" }]);
  expect(fault).toMatch(/^The pattern is invalid: /);
  expect(fault).not.toMatch(/rules|when/);
});

it.each([
  [{ posture: "standrd" }, /^INVALID_POLICY at \/posture: expected one of .* Did you mean "standard"\?$/],
  [{ posture: "standard", modes: [] }, /^INVALID_POLICY at the root: (?!.*the root)/],
])("a kernel names the place of the fault once: %j", async (more, text) => {
  await expect(createKernel({ policy: { version: "1", ...more } })).rejects.toThrow(text);
});
