/** `@keyhole/kernel/guest`: the guest's half of a call, for shells that run inside an isolate. */
export { snapshot } from "../json/snapshot.ts";
export { placeholder, secretToken } from "../id/placeholder.ts";
export { type CallRealm, runCall, well } from "./run.ts";
export { type CallSources, callSources, idleSources } from "./sources.ts";
export { boundedMessage, thrownOutcome } from "./thrown.ts";
