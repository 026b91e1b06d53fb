import { describe, it } from "vitest";
import { kernelProbes, workerHostProbes } from "./probes.ts";

describe("in workerd", () => {
  it.each(Object.entries({ ...kernelProbes, ...workerHostProbes }))("%s runs", (_, probe) => probe());
});
