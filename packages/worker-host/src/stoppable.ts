import type { CallPort, Isolate, IsolateCall, IsolateOutcome } from "@keyhole/kernel";

/**
 * Presents work without an isolate as one: each call ends by itself, or as lost when the kernel
 * stops it. No state stays between two calls.
 */
export function stoppable(
  run: (call: IsolateCall, port: CallPort) => Promise<IsolateOutcome>,
  overReason: string,
): Isolate {
  const stops = new Set<(reason: string) => void>();
  let alive = true;
  return {
    call(call, port) {
      if (!alive) return Promise.resolve({ kind: "lost", reason: overReason });
      const { promise, resolve } = Promise.withResolvers<IsolateOutcome>();
      const stop = (reason: string): void => resolve({ kind: "lost", reason });
      stops.add(stop);
      void run(call, port).then(resolve);
      return promise.finally(() => stops.delete(stop));
    },
    terminate(reason) {
      alive = false;
      for (const stop of stops) stop(reason);
    },
    get alive() {
      return alive;
    },
  };
}
