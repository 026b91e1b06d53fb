import type { CallPort, IsolateCall } from "../isolate/port.ts";

/** One call as it arrives in the guest: data. */
export type GuestCall = IsolateCall;

/** The shell's way back to the kernel. Each shell brings its own: a message port in the browser, an RPC stub at the edge. */
export type GuestTransport = CallPort;
