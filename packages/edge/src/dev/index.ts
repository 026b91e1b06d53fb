export { type Edge, type EdgeOptions, startEdge } from "./edge.ts";
export { type Playground, servePlayground } from "./playground.ts";
export { chosenToken, isFree } from "./start-settings.ts";
export type { WorkerSource } from "./worker.ts";
