import { describe, expect, it } from "vitest";
import { echo, openKernel } from "../support/kernel.ts";

describe("a caller", () => {
  it("cannot wish for a bound that the host does not hold", async () => {
    const { kernel } = await openKernel();
    kernel.register(echo);
    for (const bound of ["memoryBytes", "cpuMs", "fuel"] as const) {
      const result = await kernel.call("echo", { message: "x" }, { bounds: { [bound]: 1_000 } });
      expect(result).toMatchObject({ ok: false, error: { code: "UNSUPPORTED_HOST", details: { bounds: [bound] } } });
    }
  });
});
