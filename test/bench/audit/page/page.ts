// Runs in the page; the figures go to the process that opened it.
import { memorySink } from "@keyhole/kernel";
import { indexedDbSink } from "@keyhole/worker-host/sinks/indexeddb";
import { measure } from "../rows.ts";

const memory = await measure(() => memorySink(1_000_000));
const indexedDb = await measure((log) => indexedDbSink({ database: `bench-${log}` }));
Object.assign(globalThis, { figures: { memory, IndexedDB: indexedDb } });
