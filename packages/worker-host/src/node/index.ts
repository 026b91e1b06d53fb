export { nodeHost, type NodeHostOptions } from "./host.ts";
export { nodeStore } from "./store.ts";
