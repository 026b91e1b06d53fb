/**
 * What a shell needs to run calls inside an isolate. It hardens its realm, loads the tool, and hands each call to {@link runCall}
 * together with its own way back to the kernel.
 */
export { boundedMessage, runCall, thrownOutcome } from "@keyhole/kernel/guest";
export { openUplink, type Uplink } from "./uplink.ts";
export { hardenRealm } from "./harden/realm.ts";
