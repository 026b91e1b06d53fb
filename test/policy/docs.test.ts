import { policy, type PolicyDocument } from "@keyhole/kernel";
import { lintPolicy } from "@keyhole/kernel/policy";
import { describe, expect, it } from "vitest";
import { modeAnswer } from "../../packages/kernel/src/policy/modes/mode.ts";
import { postureAnswer } from "../../packages/kernel/src/policy/decision/decide.ts";
import { readPage } from "../docs/markdown.ts";

const page = readPage("docs/policy.md");
const documents = [...page.blocks, ...readPage("README.md").blocks].filter(({ info }) => info === "json policy");

describe("docs/policy.md", () => {
  it("has a policy for each of its steps", () => {
    expect(documents.length).toBeGreaterThanOrEqual(9);
  });

  it.each(documents.map(({ line, text }) => [line, text] as const))(
    "at line %d has a policy that loads, with nothing in vain",
    (_, text) => {
      const document = JSON.parse(text) as PolicyDocument;
      const loaded = policy(document, { variables: { HOME: "users/ada" } });
      expect(loaded).toMatchObject({ ok: true });
      if (loaded.ok) expect(lintPolicy(loaded.value)).toEqual([]);
    },
  );

  it("says of each posture and tier what is so", () => {
    for (const posture of ["strict", "standard", "permissive"] as const) {
      const answers = ([0, 1, 2, 3, 4] as const).map((tier) => postureAnswer(posture, tier));
      expect(page.prose).toContain(`| \`${posture}\` | ${answers.join(" | ")} |`);
    }
  });

  it("says of each mode what is so", () => {
    const answers = (mode: Parameters<typeof modeAnswer>[0], effects: readonly "fs.write"[] | readonly "fs.read"[]) =>
      ([0, 1, 2, 3, 4] as const).map((tier) => modeAnswer(mode, { tier, effects })).join(" ");
    expect(answers("ALERT", [])).toBe("allow allow ask ask ask");
    expect(answers("ALERT", ["fs.write"])).toBe("ask ask ask ask ask");
    expect(answers("DEGRADED", ["fs.write"])).toBe("ask ask ask deny deny");
    expect(answers("DEGRADED", ["fs.read"])).toBe("allow allow ask deny deny");
    expect(answers("LOCKDOWN", [])).toBe("allow deny deny deny deny");
    expect(answers("LOCKDOWN", ["fs.read"])).toBe("deny deny deny deny deny");
    expect(answers("RECOVERY", [])).toBe("allow allow ask deny deny");
    expect(answers("RECOVERY", ["fs.read"])).toBe("ask ask ask deny deny");
  });
});
