import { describe, it } from "vitest";
import { kernelProbes, keyholeProbes, workerHostProbes } from "./probes.ts";

describe("in workerd", () => {
  it.each(Object.entries({ ...kernelProbes, ...keyholeProbes, ...workerHostProbes }))("%s runs", (_, probe) => probe());
});
