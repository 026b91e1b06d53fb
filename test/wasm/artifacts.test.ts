import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hashBytes } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { root } from "../support/sources.ts";

const example = `${root}packages/playground/src/tools/primes/`;
const page = readFileSync(`${root}docs/wasm-tools.md`, "utf8");
const read = (path: string): Uint8Array => new Uint8Array(readFileSync(path));

/** Another compiler makes other bytes. */
function hasCompiler(): boolean {
  try {
    return execFileSync("clang", ["--version"], { encoding: "utf8" }).includes("Debian clang version 14.0.6");
  } catch {
    return false;
  }
}

describe("the modules that are checked in", () => {
  it("are what the documentation says", () => {
    expect(page).toContain(hashBytes(read(`${example}primes.wasm`)));
    expect(page).toContain(hashBytes(read(`${root}packages/worker-host/examples/reverse.wasm`)));
  });

  it.skipIf(!hasCompiler())("are what the documented command makes of their sources", () => {
    const [, command = ""] = /^ *(clang .*primes\.c)$/m.exec(page) ?? [];
    const [clang = "", ...args] = command.split(" ");
    const folder = mkdtempSync(join(tmpdir(), "keyhole-"));
    try {
      const given = args.map((arg) => (arg === "primes.wasm" ? join(folder, arg) : arg));
      execFileSync(clang, given, { cwd: example });
      expect(hashBytes(read(join(folder, "primes.wasm")))).toBe(hashBytes(read(`${example}primes.wasm`)));
      execFileSync(`${root}test/wasm/tools/build.sh`, [join(folder, "tools.json")]);
      expect(readFileSync(join(folder, "tools.json"), "utf8")).toBe(
        readFileSync(`${root}test/wasm/tools/tools.json`, "utf8"),
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
