/**
 * The parts with which a shell runs calls inside an isolate. It hardens its realm, loads the tool,
 * and passes each call to {@link runCall} with its own transport to the kernel.
 */
export { boundedMessage, runCall, thrownOutcome } from "@keyhole/kernel/guest";
export { openUplink, type Uplink } from "./uplink.ts";
export { hardenRealm } from "./harden/realm.ts";
