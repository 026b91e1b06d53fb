/**
 * The guest's half of a call, shared by every JavaScript isolate. A shell seals its realm, loads the tool, and hands each call to
 * {@link runCall} together with its own way back to the kernel.
 */
export type { GuestCall, GuestTransport } from "./call.ts";
export { runCall } from "./run.ts";
export { type SealedRealm, type SealOptions, seal } from "./seal.ts";
