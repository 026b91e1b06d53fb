import { createKernel, defaultModeTriggers } from "@keyhole/kernel";
import { nodeResources } from "@keyhole/worker-host/node";
import { expect, it } from "vitest";

it("a machine says how much space and memory is left", async () => {
  const resources = nodeResources(import.meta.dirname);
  expect(await resources.freeSpaceBytes()).toBeGreaterThan(0);
  expect(await resources.freeMemoryBytes()).toBeGreaterThan(0);
  const modeTriggers = defaultModeTriggers(resources);
  expect(modeTriggers.map(({ on }) => on)).toEqual(["space", "memory", "backlog"]);
  expect((await createKernel({ resources, modeTriggers })).mode).toBe("NORMAL");
});

it("a folder that is not there gives no number, and no kernel is told of it", async () => {
  await expect(nodeResources("/there/is/none").freeSpaceBytes()).rejects.toThrow("ENOENT");
});
