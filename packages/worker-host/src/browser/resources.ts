import type { Resources } from "@keyhole/kernel";

/** The gauge of a page or its worker, for `modeTriggers` on space: what the browser still lets this origin store. No browser says how much memory is left. */
export function pageResources(): Resources {
  return {
    freeSpaceBytes: async () => {
      const { quota, usage } = await navigator.storage.estimate();
      return quota === undefined || usage === undefined ? undefined : quota - usage;
    },
  };
}
