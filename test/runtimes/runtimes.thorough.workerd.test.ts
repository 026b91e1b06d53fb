import { describe, expect, it } from "vitest";
import { kernelProbes, workerHostProbes } from "./probes.ts";

describe("in workerd", () => {
  it.each(Object.entries({ ...kernelProbes, ...workerHostProbes }))("%s runs", (_, probe) => probe());

  it("@keyhole/edge runs", async () => {
    const { scopes } = await import("@keyhole/edge");
    expect(scopes).toContain("tools:call");
  });
});
