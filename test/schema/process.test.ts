import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { readSuite } from "./read-suite.ts";
import { EXPECTED } from "./run-suite.ts";

/** Runs a script of this folder in a process of its own and reads the JSON that it prints. */
function run(script: string, ...flags: string[]): unknown {
  const path = fileURLToPath(new URL(script, import.meta.url));
  return JSON.parse(
    execFileSync(process.execPath, [...flags, "--conditions=keyhole-source", path], { encoding: "utf8" }),
  );
}

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
