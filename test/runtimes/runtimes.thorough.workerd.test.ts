import { describe, it } from "vitest";
import { mcpProbes } from "./mcp-probes.ts";
import { keyholeProbes } from "./package-probes.ts";
import { workerHostProbes } from "./host-probes.ts";
import { kernelProbes } from "./probes.ts";

describe("in workerd", () => {
  it.each(Object.entries({ ...kernelProbes, ...keyholeProbes, ...mcpProbes, ...workerHostProbes }))(
    "%s runs",
    (_, probe) => probe(),
  );
});
