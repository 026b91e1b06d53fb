import { opfsStore } from "@keyhole/worker-host/brokers/files-opfs";
import { indexedDbKv } from "@keyhole/worker-host/brokers/kv-indexeddb";
import { contentStore, keyedContentStore } from "@keyhole/worker-host/content";
import { describeContentStore } from "./content.ts";

let folders = 0;
describeContentStore("in OPFS", () => contentStore(opfsStore({ folder: `content-${folders++}` })));
describeContentStore("in IndexedDB", () => keyedContentStore(indexedDbKv({ database: `content-${folders++}` })));
