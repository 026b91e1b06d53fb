import { describe, expect, it } from "vitest";
import { nearest } from "../../packages/kernel/src/tool/nearest.ts";

// A stranger chooses the name, and packages choose the candidates. The search compares a bounded number of characters. The tests count comparisons, and no time.

describe("the search for the nearest name", () => {
  const pad = (index: number): string => String(index).padStart(4, "0");
  it.each([
    ["is nothing like", "y".repeat(64), (at: number) => `files_${pad(at)}_${"x".repeat(50)}`],
    ["is like all of", `files_0_${"x".repeat(50)}`, (at: number) => `files_${pad(at)}_${"x".repeat(50)}`],
    ["is much longer than", "y".repeat(1_000_000), (at: number) => `${"y".repeat(60)}${pad(at)}`],
  ])("for a name that %s 1,000 tools takes a bounded number of steps", (_, name, nameOf) => {
    const tools = Array.from({ length: 1_000 }, (__, at) => nameOf(at));
    const { min } = Math;
    let steps = 0;
    Math.min = (...values) => (steps++, min(...values));
    try {
      nearest(name, tools);
    } finally {
      Math.min = min;
    }
    expect(steps).toBeLessThanOrEqual(300_000);
  });
});
