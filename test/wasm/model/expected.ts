import { limits, type Observed } from "./observed.ts";
import type { Program } from "./program.ts";
import { Reference } from "./reference.ts";
import type { Ended } from "./values.ts";

export function fingerprint(bytes: Uint8Array): number {
  let hash = 0x811c9dc5 ^ bytes.length;
  // Programs only write to the first kilobyte, and fill up to the second.
  for (const byte of bytes.subarray(0, 2_048)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

/** What the rules say of calling `main` with each argument in turn, in one instance. */
export function expected(
  program: Program,
  values: readonly number[],
): (Observed & Pick<Ended, "refusedPages" | "caughtFromCallee"> & { readonly paid: number })[] {
  const reference = new Reference(program, limits);
  return values.map((value) => {
    const { kind, values: results, fuel, units, ...more } = reference.run(program.exports["main"]!, [value]);
    const isExact = kind === "returned" || kind === "uncaught";
    return {
      kind,
      value: kind === "returned" ? Number(results[0]) : undefined,
      fuel: isExact ? fuel : undefined,
      paid: fuel,
      units: isExact ? units : undefined,
      memory: fingerprint(reference.memory.bytes),
      ...more,
    };
  });
}
