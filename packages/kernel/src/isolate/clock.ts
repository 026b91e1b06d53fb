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
