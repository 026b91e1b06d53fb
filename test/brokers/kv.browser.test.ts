import { memoryKv } from "@keyhole/worker-host/brokers/kv";
import { indexedDbKv } from "@keyhole/worker-host/brokers/kv-indexeddb";
import { kvContract } from "../contract/kv.ts";

let databases = 0;
kvContract("memory", () => memoryKv());
kvContract("IndexedDB", () => indexedDbKv({ database: `kv-contract-${databases++}` }));
