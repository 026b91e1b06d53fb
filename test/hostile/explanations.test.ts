import { patternFault } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { openKernel, toolOf } from "../support/kernel.ts";

describe("a hint of a missing grant", () => {
  const hintFor = async (capability: object): Promise<string> => {
    const { kernel } = await openKernel();
    const effects = ["net.read"];
    kernel.register(toolOf(() => 1, { effects, determinism: "external", capabilities: [capability] }));
    const result = await kernel.call("subject", {});
    return result.ok ? "" : result.error.hint;
  };

  it("is what the tool wishes for, where it says so", async () => {
    const wish = { kind: "net.read", hosts: ["search.example.org"], paths: ["/search"] };
    const hint = await hintFor(wish);
    expect(hint).toContain(JSON.stringify({ tool: "subject", capability: wish }));
  });

  it("is an example, where it wishes for everything", async () => {
    expect(await hintFor({ kind: "net.read", hosts: ["*"] })).toContain('"hosts":["example.com"]');
  });
});

it("a malformed pattern is told in the words of the pattern, not of a rule that its author never wrote", () => {
  const asked = { approvalId: "a", tool: "t@1.0.0", sessionId: "s", caller: "c", input: {} };
  const fault = patternFault(asked, [{ at: "/a", matches: ".*" }]);
  expect(fault).toMatch(/^The pattern is malformed: /);
  expect(fault).not.toMatch(/rules|when/);
});
