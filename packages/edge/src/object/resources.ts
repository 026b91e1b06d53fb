import type { Resources } from "@keyhole/kernel";

/** The capacity of one object's SQLite storage on Cloudflare, in bytes. A local disk can be full before: then the log reports it. */
const STORAGE_BYTES = 10_000_000_000;

/** The gauge of an object, for `modeTriggers` on space. No Worker learns how much memory is left. */
export function sqlResources({ sql }: Pick<DurableObjectStorage, "sql">): Resources {
  return { freeSpaceBytes: () => STORAGE_BYTES - sql.databaseSize };
}
