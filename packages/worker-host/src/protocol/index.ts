/**
 * The messages between host and guest, and the host's check of each. Transports: a message port, or
 * RPC at the edge.
 */
export { type BrokenChannel, CallState, type Checked, endingOf } from "./call-state.ts";
export { IdleWatch } from "./idle-watch.ts";
export { importAt } from "./import-at.ts";
export { protocolLimits } from "./limits.ts";
export type { GuestMessage, GuestOutcome, LoadedCode, LoadedModule } from "./message.ts";
export { moduleCode, moduleFault } from "./module-code.ts";
export { parseGuestMessage } from "./parse.ts";
