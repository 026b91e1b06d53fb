import type { Resources } from "@keyhole/kernel";

/** What the SQLite storage of one object takes on Cloudflare. Locally the disk may end before: then the log says so. */
const STORAGE_BYTES = 10_000_000_000;

/** The gauge of an object, for `modeTriggers` on space. No Worker learns how much memory is left. */
export function sqlResources({ sql }: Pick<DurableObjectStorage, "sql">): Resources {
  return { freeSpaceBytes: () => STORAGE_BYTES - sql.databaseSize };
}
