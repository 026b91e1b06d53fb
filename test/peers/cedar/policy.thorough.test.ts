import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { countsOf, disagreements, randomCases, recordedCases } from "../../policy/random-cases.ts";
import { cedarDecisions } from "./cedar.ts";

describe("policy decisions and Cedar's", () => {
  it("agree on 10,000 random calls", () => {
    const cases = randomCases(1, 100, 100);
    const expected = cases.map(cedarDecisions);
    expect(disagreements(cases, (_, index) => expected[index]!)).toEqual([]);
    for (const [decision, count] of Object.entries(countsOf(expected.flat())))
      expect(count, decision).toBeGreaterThan(500);
  });

  it("are those that the quick suite compares with", async () => {
    const path = fileURLToPath(new URL("../../policy/cedar-decisions.txt", import.meta.url));
    await expect(`${recordedCases.flatMap(cedarDecisions).join("\n")}\n`).toMatchFileSnapshot(path);
  });
});
