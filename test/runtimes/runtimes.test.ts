import { describe, expect, it } from "vitest";
import { browserProbes } from "./browser-probes.ts";
import { nodeProbes } from "./node-probes.ts";
import { mcpProbes } from "./mcp-probes.ts";
import { keyholeProbes } from "./package-probes.ts";
import { workerHostProbes } from "./host-probes.ts";
import { kernelProbes } from "./probes.ts";
import { modulesOf, publicPackages, readManifest, runtimeRows } from "./table.ts";

const rows = runtimeRows();

describe("docs/runtimes.md", () => {
  it("has one row for each export", () => {
    const specifiers = publicPackages.flatMap((folder) => modulesOf(readManifest(folder)));
    expect(rows.map(({ specifier }) => specifier).toSorted()).toEqual(specifiers.toSorted());
  });

  it("names the Node that `engines` of each package asks for", () => {
    const engines = publicPackages.map(readManifest).map(({ name, engines: { node } }) => [name, node]);
    const lowest = (folder: (typeof publicPackages)[number]): string => {
      const own = new Set(modulesOf(readManifest(folder)));
      return `>=${Math.min(...rows.filter(({ specifier }) => own.has(specifier)).map(({ node = Infinity }) => node))}`;
    };
    expect(engines).toEqual([
      ["@keyhole/kernel", lowest("kernel")],
      ["@keyhole/worker-host", lowest("worker-host")],
      ["@keyhole/agents", lowest("agents")],
      ["@keyhole/bus", lowest("bus")],
      ["keyhole", lowest("keyhole")],
      ["@keyhole/mcp", lowest("mcp")],
      ["@keyhole/edge", lowest("edge")],
    ]);
  });

  it("has a probe for each export, in the group of its row", () => {
    const group = (which: (row: (typeof rows)[number]) => boolean): readonly string[] =>
      rows
        .filter(which)
        .map(({ specifier }) => specifier)
        .toSorted();
    const anywhere = { ...kernelProbes, ...keyholeProbes, ...mcpProbes, ...workerHostProbes };
    expect(Object.keys(anywhere).toSorted()).toEqual(group((row) => row.node !== undefined && row.workers));
    expect(Object.keys(nodeProbes).toSorted()).toEqual(group(({ browsers, workers }) => !browsers && !workers));
    expect(Object.keys(browserProbes).toSorted()).toEqual(group(({ browsers, workers }) => browsers && !workers));
  });
});

describe("on this Node, from sources", () => {
  const probes = { ...kernelProbes, ...keyholeProbes, ...workerHostProbes, ...nodeProbes };
  // Its isolates are threads: test/node has processes of their own for them.
  const here = Object.entries(probes).filter(([specifier]) => specifier !== "@keyhole/worker-host/node");
  it.each(here)("%s runs", (_, probe) => probe());
});

describe("on this Node an export for browsers", () => {
  it.each(Object.entries(browserProbes))("%s is imported, and refuses its call", async (_, probe) => {
    await expect(probe()).rejects.toThrow(/\w/);
  });

  it("says why, where a kernel would not start", async () => {
    const { createKernel } = await import("@keyhole/kernel");
    const { indexedDbSink } = await import("@keyhole/worker-host/sinks/indexeddb");
    await expect(createKernel({ sink: indexedDbSink() })).rejects.toThrow(
      "indexedDbSink() needs IndexedDB, and only browsers have it.",
    );
  });
});
