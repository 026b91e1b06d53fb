import { policy as policyOf } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { denyWhen } from "../policy/support.ts";

describe("names in a document", () => {
  const fault = (part: object): string | undefined => {
    const policy = policyOf({ version: "1", posture: "standard", ...part });
    return policy.ok ? undefined : policy.error.path;
  };
  const grant = (more: object) => ({ capability: { kind: "clock" }, tool: "report", ...more });
  it.each<[string, object, string]>([
    ["a wildcard in a rule's tools", { rules: [denyWhen({ tool: ["report_*"] })] }, "/rules/0/when/tool/0"],
    ["a star for every tool", { rules: [denyWhen({ tool: ["*"] })] }, "/rules/0/when/tool/0"],
    ["another case", { rules: [denyWhen({ tool: ["report", "Shell"] })] }, "/rules/0/when/tool/1"],
    ["a version behind the name", { rules: [denyWhen({ tool: ["shell@1.0.0"] })] }, "/rules/0/when/tool/0"],
    ["a category that no tool can have", { rules: [denyWhen({ category: ["Web"] })] }, "/rules/0/when/category/0"],
    ["a wildcard for callers", { rules: [denyWhen({ caller: ["*"] })] }, "/rules/0/when/caller/0"],
    ["a wildcard for sessions", { rules: [denyWhen({ session: ["a*"] })] }, "/rules/0/when/session/0"],
    ["a wildcard in a grant's tool", { grants: [grant({ tool: "report_*" })] }, "/grants/0/tool"],
    ["a wildcard in a grant's caller", { grants: [grant({ caller: "*" })] }, "/grants/0/caller"],
    ["a wildcard in the tools of a label", { labels: { pii: { tools: ["crm_*"] } } }, "/labels/pii/tools/0"],
  ])("%s is refused: it would mean nothing", (_, part, path) => {
    expect(fault(part)).toBe(path);
  });
  it("names that can be met are taken", () => {
    expect(fault({ grants: [grant({ tool: "*", caller: "ada@example.com" })] })).toBe(undefined);
    expect(fault({ rules: [denyWhen({ tool: ["a1_b"], category: ["web-2"], caller: ["Ada Lovelace"] })] })).toBe(
      undefined,
    );
  });
});
