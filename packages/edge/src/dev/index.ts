export { type Edge, type EdgeOptions, startEdge } from "./edge.ts";
export type { WorkerSource } from "./worker.ts";
