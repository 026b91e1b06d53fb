export { memoryKv, type MemoryKvOptions } from "./kv-memory.ts";
export type { KvFault, KvPage, KvResult, KvStore } from "./kv-store.ts";
