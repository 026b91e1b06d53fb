import { describe, expect, it } from "vitest";
import { sized, thorough } from "../support/size.ts";
import { play } from "./spec.ts";
import { missing, readScripts, scripts } from "./wast.ts";

/** Each instruction once: no script that repeats another one for further memories or 64-bit addresses, and a third of those for SIMD. */
function scriptsOnce(names: readonly string[]): readonly string[] {
  const simd = names.filter((name) => name.startsWith("simd_"));
  return names.filter((name) => {
    const base = name.replace(/_?\d+$/, "");
    if (base !== name && names.includes(base)) return false;
    return !simd.includes(name) || simd.indexOf(name) % 3 === 0;
  });
}

const reason = missing();
if (reason === undefined) {
  describe("WebAssembly's own test suite", () => {
    let metered = 0;
    let commands = 0;

    it.each(thorough ? scripts : scriptsOnce(scripts))("behaves the same metered: %s", (name) => {
      for (const script of readScripts(name, sized(8, Infinity))) {
        const ours = play(script, true);
        // A module that is refused, and who imports from it, has nothing to compare.
        if (ours.refused.length > 0) continue;
        const { lines } = play(script, false);
        metered += ours.metered;
        commands += lines.length;
        expect([script.name, ours.lines]).toEqual([script.name, lines]);
      }
    });

    it("was there", () => {
      expect(metered).toBeGreaterThan(sized(400, 1_200));
      expect(commands).toBeGreaterThan(sized(3_000, 10_000));
    });
  });
} else {
  process.stderr.write(`WebAssembly's own test suite was not run: ${reason}\n`);
  it("has the official suite in CI", () => {
    expect(process.env["CI"] !== undefined && reason.includes("KEYHOLE_SUITES")).toBe(false);
  });
}
