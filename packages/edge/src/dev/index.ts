export { type Edge, type EdgeOptions, startEdge } from "./edge.ts";
export { chosenToken, isFree } from "./start-settings.ts";
export type { WorkerSource } from "./worker.ts";
