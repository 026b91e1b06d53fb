import { absorb, atOnce, type Foreign, type Theirs } from "../support/foreign.ts";

/** Time as the kernel sees it; tests give it a fake one. */
export interface Clock {
  /** Milliseconds since the epoch. May jump. */
  now(): number;
  /** Milliseconds from an arbitrary start. Never goes back; deadlines and durations are measured on it. */
  monotonicMs(): number;
  /**
   * Calls back once after `delayMs`, unless the returned function was called before. An `"idly"`
   * timer keeps no process alive: a program without other work ends.
   */
  after(delayMs: number, callback: () => void, how?: "idly"): () => void;
}

/** A clock as the kernel has it. @throws TypeError, when it is asked, for what is no time: a bug of the embedding program */
export function readClock(clock: Theirs<Clock>): Clock {
  return {
    now: () => timeOf(atOnce(clock.now())),
    monotonicMs: () => timeOf(atOnce(clock.monotonicMs())),
    after(delayMs, callback, how) {
      const stop = atOnce(clock.after(delayMs, callback, how));
      return typeof stop === "function" ? () => absorb(stop()) : () => {};
    },
  };
}

function timeOf(foreign: Foreign<number>): number {
  if (typeof foreign === "number" && Number.isFinite(foreign)) return foreign;
  throw new TypeError("A clock returned a value that is not a number of milliseconds.");
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  after: (delayMs, callback, how) => {
    const timer = setTimeout(callback, delayMs);
    // Node's timers are objects, those of browsers are numbers.
    if (how === "idly") (timer as { unref?: () => void }).unref?.();
    return () => clearTimeout(timer);
  },
};
