/**
 * The messages between host and guest, and the host's check of each. Transports: a message port, or
 * RPC at the edge.
 */
export { type BodyState, checkOutcome, pieceFault, pullFault } from "./stream-state.ts";
export { IdleWatch } from "./idle-watch.ts";
export { importAt } from "./import-at.ts";
export { protocolLimits } from "./limits.ts";
export type { GuestMessage, GuestOutcome, GuestRequest, LoadedCode, LoadedModule } from "./message.ts";
export { moduleCode, moduleFault } from "./module-code.ts";
export { parseGuestMessage, parseRequest } from "./parse.ts";
