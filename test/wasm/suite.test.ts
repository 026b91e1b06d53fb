import { describe, expect, it } from "vitest";
import { play } from "./spec.ts";
import { missing, readScripts, scripts } from "./wast.ts";

const reason = missing();
if (reason === undefined) {
  describe("WebAssembly's own test suite", () => {
    let metered = 0;
    let commands = 0;

    it.each(scripts)(
      "behaves the same metered: %s",
      (name) => {
        for (const script of readScripts(name)) {
          const ours = play(script, true);
          // A module that is refused, and who imports from it, has nothing to compare.
          if (ours.refused.length > 0) continue;
          const { lines } = play(script, false);
          metered += ours.metered;
          commands += lines.length;
          expect([script.name, ours.lines]).toEqual([script.name, lines]);
        }
      },
      60_000,
    );

    it("was there", () => {
      expect(metered).toBeGreaterThan(1_200);
      expect(commands).toBeGreaterThan(10_000);
    });
  });
} else {
  process.stderr.write(`WebAssembly's own test suite was not run: ${reason}\n`);
  it("has the official suite in CI", () => {
    expect(process.env["CI"] !== undefined && reason.includes("KEYHOLE_SUITES")).toBe(false);
  });
}
