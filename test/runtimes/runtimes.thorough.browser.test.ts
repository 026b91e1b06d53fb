import { describe, expect, it } from "vitest";
import { server } from "vitest/browser";
import { browserProbes } from "./browser-probes.ts";
import { mcpProbes } from "./mcp-probes.ts";
import { keyholeProbes } from "./package-probes.ts";
import { workerHostProbes } from "./host-probes.ts";
import { kernelProbes } from "./probes.ts";

/** The browser of the tests that has WebKit's engine gives pages no origin private file system. */
const refusesFiles = server.browser === "webkit";

describe("in a browser", () => {
  const probes = Object.entries({
    ...kernelProbes,
    ...keyholeProbes,
    ...mcpProbes,
    ...workerHostProbes,
    ...browserProbes,
  });
  it.each(probes)("%s runs, or refuses where the browser has no files", async (specifier, probe) => {
    if (refusesFiles && specifier.endsWith("-opfs")) await expect(probe()).rejects.toThrow(/\w/);
    else await probe();
  });
});
