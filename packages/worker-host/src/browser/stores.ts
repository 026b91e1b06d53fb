import type { Broker } from "@keyhole/kernel";
import { filesBroker } from "../brokers/files.ts";
import { opfsStore } from "../brokers/files-opfs.ts";
import { kvBroker } from "../brokers/kv.ts";
import { indexedDbKv } from "../brokers/kv-indexeddb.ts";

/** Files in the page's origin private file system. */
export function pageFiles(): Broker {
  return filesBroker(opfsStore());
}

/** Values in the page's IndexedDB. */
export function pageValues(): Broker {
  return kvBroker(indexedDbKv());
}
