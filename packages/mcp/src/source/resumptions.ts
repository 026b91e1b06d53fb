import type { Clock } from "@keyhole/kernel";
import { TokenBucket } from "@keyhole/kernel/foreign-tools";

/** Of all streams of one connection together. */
const rate = { most: 20, everyMs: 500 };
const SHORTEST_MS = 1_000;
const LONGEST_MS = 30_000;
/** The client also resumes the streams of calls that have ended. */
const MOST_WAITING = 100;

/**
 * Opens the ended streams of one server again, at a rate. The server says when, and the client would take `retry: 0` as it is.
 *
 * @param onFault of a server with too many streams to resume
 */
export function resumptions(
  clock: Clock,
  onFault: (fault: Error) => void,
): (resume: () => void, delayMs: number) => () => void {
  const bucket = new TokenBucket(clock, rate);
  let waiting = 0;
  return (resume, delayMs) => {
    if (waiting >= MOST_WAITING) {
      onFault(new RangeError(`The server left more than ${MOST_WAITING} streams to resume.`));
      return () => {};
    }
    waiting++;
    let stop = (): void => {};
    const wait = (ms: number): void => {
      stop = clock.after(ms, attempt, "idly");
    };
    const attempt = (): void => {
      if (!bucket.take()) return wait(bucket.waitMs);
      waiting--;
      resume();
    };
    wait(Math.min(Math.max(delayMs, SHORTEST_MS), LONGEST_MS));
    return () => {
      stop();
      waiting--;
    };
  };
}
