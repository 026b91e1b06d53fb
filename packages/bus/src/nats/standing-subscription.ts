import type { Clock } from "@keyhole/kernel";
import type { Faults } from "../faults.ts";

/** The server can end a subscription at any time, and allow it again. */
const REST_MS = 5_000;

export interface Subscriber {
  /** @param onEnd the server refuses the subscription, or ended it */
  readonly subscribe: (onEnd: (error: Error) => void) => { unsubscribe(): void };
  readonly pattern: string;
  readonly faults: Faults;
  readonly clock: Clock;
}

/** Subscribes until it is stopped. Returns the way to stop. @throws Error where the connection is closed for good */
export function standingSubscription({ subscribe, pattern, faults, clock }: Subscriber): () => void {
  let isStopped = false;
  let stopRest = (): void => {};
  const onEnd = ({ message }: Error): void => {
    if (isStopped) return;
    faults.report(
      new Error(`The server ended the subscription to ${pattern}. The next try is in ${REST_MS} ms. ${message}`),
    );
    stopRest = clock.after(REST_MS, () => faults.guard(() => void (current = subscribe(onEnd))), "idly");
  };
  let current = subscribe(onEnd);
  return () => {
    isStopped = true;
    stopRest();
    current.unsubscribe();
  };
}
