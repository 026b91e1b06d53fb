import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

/** A few percent above what is measured. */
const mostBytes: Readonly<Record<string, number>> = { small: 52_000, asking: 82_000, large: 462_000 };

it("a call allocates little, and leaves at most 4 % of it to the next minor collection", () => {
  const path = fileURLToPath(new URL("allocation.ts", import.meta.url));
  const generation = ["--min-semi-space-size=128", "--max-semi-space-size=128"];
  const args = ["--expose-gc", ...generation, "--conditions=keyhole-source", path];
  const figures = JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" })) as {
    readonly name: string;
    readonly bytesPerCall: number;
    readonly survivors: number;
  }[];
  expect(figures.map(({ name }) => name)).toEqual(["small", "asking", "large"]);
  for (const { name, bytesPerCall, survivors } of figures) {
    // Without a collection in between, the figures are whole.
    expect(bytesPerCall, name).toBeGreaterThan(10_000);
    expect(bytesPerCall, name).toBeLessThan(mostBytes[name] ?? 0);
    expect(survivors, name).toBeLessThan(0.04);
  }
});
