import { blake3Hash, createKernel, hashJson, packageHash } from "@keyhole/kernel";
import { builtinTools } from "@keyhole/worker-host/tools";
import { expect, it } from "vitest";
import calculator from "../../packages/worker-host/src/tools/calculator.ts";

/** The result of every function over numbers of every size, as one digest: one other last digit anywhere is another digest. */
const calculatorDigest = "blake3:b7af6d9ad50ffe7fc0e71d028ec5b8f58b0b464d4a9cd7660dc9dfd6585d02e8";

/** What the built-in tools must be on every platform. */
export function builtinToolsContract(): void {
  it("every package is the one that its hash names", () => {
    expect(builtinTools.length).toBe(12);
    for (const { manifest, code, hash } of builtinTools)
      expect(packageHash(manifest, code, blake3Hash), manifest.name).toBe(hash);
  });

  it("the calculator gives the same digits as everywhere", async () => {
    const kernel = await createKernel();
    kernel.registerTrusted(calculator);
    const values: (number | string)[] = [];
    for (const name of ["sqrt", "abs", "round", "ln", "log10", "exp", "sin", "cos", "tan"]) {
      for (let n = -40; n <= 40; n++) {
        const number = `${n % 7}.${Math.abs(n * 7919)}e${n}`;
        const result = await kernel.call("calculator", {
          expression: `${name}(${number}) + (${n}.5)^${n % 5} - 1.0${n + 40}^(${n}/3)`,
        });
        values.push(result.ok ? (result.data as { value: number }).value : result.error.message);
      }
    }
    expect(hashJson(values)).toBe(calculatorDigest);
  });
}
