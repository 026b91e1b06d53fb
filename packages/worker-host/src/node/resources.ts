import { statfs } from "node:fs/promises";
import type { Resources } from "@keyhole/kernel";

/**
 * Gauges of this machine, for `modeTriggers` on space and memory. A container's limit on memory counts.
 *
 * @param folder a folder on the file system of the log. Default: the working directory
 * @example
 * const resources = nodeResources("/var/lib/agent");
 * const kernel = await createKernel({ sink: fileSink("/var/lib/agent/log.jsonl"), resources, modeTriggers: defaultModeTriggers(resources) });
 */
export function nodeResources(folder = "."): Required<Resources> {
  return {
    freeSpaceBytes: async () => {
      const { bavail, bsize } = await statfs(folder);
      return bavail * bsize;
    },
    freeMemoryBytes: () => process.availableMemory(),
  };
}
