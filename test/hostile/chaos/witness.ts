import type { Isolate, IsolateHost } from "@keyhole/kernel";

/** A host, and who sees when a call reaches its isolate. */
export interface Witness {
  readonly host: IsolateHost;
  /** Calls back once, when the isolate is given this call; `kill` ends the isolate behind the kernel's back. */
  onReached(callId: string, listener: (kill: () => void) => void): void;
}

export function witness(host: IsolateHost): Witness {
  const listeners = new Map<string, (kill: () => void) => void>();
  const seen = (isolate: Isolate): Isolate => ({
    call(call, port) {
      listeners.get(call.callId)?.(() => isolate.terminate("killed from outside"));
      listeners.delete(call.callId);
      return isolate.call(call, port);
    },
    terminate: (reason) => isolate.terminate(reason),
    get alive() {
      return isolate.alive;
    },
  });
  return {
    host: { ...host, open: async (tool) => seen(await host.open(tool)) },
    onReached: (callId, listener) => void listeners.set(callId, listener),
  };
}
