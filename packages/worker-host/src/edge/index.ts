export { connectEdge, type EdgeClient, type EdgeOptions } from "./connect-edge.ts";
export { type EdgeCode, EdgeFault } from "./fault.ts";
