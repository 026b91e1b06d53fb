import { describe, expect, it } from "vitest";
import { compareWithCedar } from "./cedar.ts";

describe("against Cedar", () => {
  it("decides the same by the same rules", () => {
    const { disagreements, decisions } = compareWithCedar(10_000, 1);
    expect(disagreements).toEqual([]);
    // Every way of deciding is met often.
    for (const [decision, count] of Object.entries(decisions)) expect(count, decision).toBeGreaterThan(500);
  });
});
