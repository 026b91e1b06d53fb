import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { readSuite } from "./read-suite.ts";
import { EXPECTED } from "./run-suite.ts";

/** What a script of this folder prints, in a process of its own. */
function printed(script: string, ...flags: string[]): string {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const args = [...flags, "--conditions=keyhole-source", path];
  return execFileSync(process.execPath, args, { encoding: "utf8", maxBuffer: 2 ** 28 });
}

const run = (script: string, ...flags: string[]): unknown => JSON.parse(printed(script, ...flags));

describe.skipIf(readSuite() === undefined)("where code generation is forbidden (needs KEYHOLE_SUITES)", () => {
  it("passes the whole official suite", () => {
    expect(run("./without-code-generation.ts", "--disallow-code-generation-from-strings")).toEqual({
      generated: false,
      passed: [...EXPECTED],
    });
  });
});

describe("memory", () => {
  it("has one bound for the patterns of all validators together", () => {
    const { accepted, bytes } = run("./pattern-memory.ts", "--expose-gc") as { accepted: number; bytes: number };
    expect(accepted).toBe(0);
    expect(bytes).toBeLessThan(32 * 1024 * 1024);
  });

  it("leaves no garbage worth naming behind a check of 1 MB", () => {
    const { ok, jsonBytes, bytesPerCheck } = run("./memory.ts", "--expose-gc") as {
      ok: boolean;
      jsonBytes: number;
      bytesPerCheck: number;
    };
    expect(ok).toBe(true);
    expect(jsonBytes).toBeGreaterThan(1_000_000);
    expect(bytesPerCheck).toBeLessThanOrEqual(1_024);
  });
});

describe("objects that the engine keeps as tables", () => {
  it("do not make it give up optimised code again and again", () => {
    const parts = printed("./deoptimisations.ts", "--trace-deopt").split(/^== /m);
    const count = (name: string): number =>
      parts.find((part) => part.startsWith(name))?.split("[bailout").length ?? Infinity;
    // What V8 optimises is given up a few times at first; what comes later must not be.
    expect(count("before")).toBeGreaterThan(1);
    expect(count("after")).toBeLessThan(20);
  });
});
