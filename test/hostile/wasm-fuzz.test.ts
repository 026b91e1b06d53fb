import { meter } from "@keyhole/worker-host/wasm";
import { expect, it } from "vitest";
import type { Bytes } from "../wasm/bytes.ts";
import { trapping } from "../wasm/metered.ts";
import { programs } from "../wasm/programs.ts";
import { randomFrom } from "../support/random.ts";
import { sized } from "../support/size.ts";

function mutated(bytes: Bytes, next: () => number): Bytes {
  const copy = bytes.slice(0, next() < 0.1 ? Math.floor(next() * bytes.length) : bytes.length);
  const flips = 1 + Math.floor(next() * 4);
  for (let i = 0; i < flips; i++) copy[8 + Math.floor(next() * (copy.length - 8))] = Math.floor(next() * 256);
  return copy;
}

/** Runs every export with next to no fuel: whatever loops without paying hangs this test. */
function runAll(bytes: Bytes, names: { readonly fuel: string; readonly start?: string }): number {
  const module = new WebAssembly.Module(bytes);
  let exports: WebAssembly.Exports;
  try {
    ({ exports } = new WebAssembly.Instance(module, trapping(module)));
  } catch {
    return 0; // A segment does not fit; nothing ran.
  }
  let ran = 0;
  for (const [name, exported] of Object.entries(exports)) {
    if (typeof exported !== "function") continue;
    (exports[names.fuel] as WebAssembly.Global<"i64">).value = 1_000n << 15n;
    const left = (): bigint => (exports[names.fuel] as WebAssembly.Global<"i64">).value;
    try {
      (exported as (...given: unknown[]) => unknown)(...Array<number>(exported.length).fill(1_000_000));
    } catch {
      // A trap of its own, which may come before anything is shown, or an argument of another type: nothing to see.
      if (left() === 1_000n << 15n) continue;
    }
    ran++;
    expect([name, left()]).not.toEqual([name, 1_000n << 15n]);
  }
  return ran;
}

it("modules with flipped bytes are refused with a code, or are metered", () => {
  const next = randomFrom(7);
  let accepted = 0;
  let ran = 0;
  for (let i = 0; i < sized(1_500, 10_000); i++) {
    const original = programs[i % programs.length]!.bytes;
    const bytes = mutated(original, next);
    const result = meter(bytes);
    if (!result.ok) {
      expect(result.code).toMatch(/^[A-Z_]+[A-Z0-9_]*$/);
      expect(result.message).not.toBe("");
      continue;
    }
    accepted++;
    ran += runAll(result.bytes, result.report.exports);
  }
  // Else it tested nothing.
  expect(accepted).toBeGreaterThan(sized(75, 500));
  expect(ran).toBeGreaterThan(sized(15, 100));
});
