import { describe, it } from "vitest";
import { mcpProbes } from "./mcp-probes.ts";
import { kernelProbes, keyholeProbes, workerHostProbes } from "./probes.ts";

describe("in workerd", () => {
  it.each(Object.entries({ ...kernelProbes, ...keyholeProbes, ...mcpProbes, ...workerHostProbes }))(
    "%s runs",
    (_, probe) => probe(),
  );
});
