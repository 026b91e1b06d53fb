import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { countsOf, disagreements, recordedCases } from "./random-cases.ts";

// Written by test/peers/cedar, which asks Cedar itself.
const recorded = readFileSync(new URL("cedar-decisions.txt", import.meta.url), "utf8")
  .trimEnd()
  .split("\n");

it("policies decide 1,000 calls as Cedar does, by the same rules", () => {
  expect(recorded).toHaveLength(1_000);
  const of = (index: number): string[] => recorded.slice(index * 10, index * 10 + 10);
  expect(disagreements(recordedCases, (_, index) => of(index))).toEqual([]);
  for (const [decision, count] of Object.entries(countsOf(recorded))) expect(count, decision).toBeGreaterThan(50);
});

it("a wrong decision is found", () => {
  const [policy] = recordedCases;
  expect(disagreements([policy!], () => Array.from({ length: 10 }, () => "deny r99"))).toHaveLength(5);
});
