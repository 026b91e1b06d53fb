/** Time as the kernel sees it; tests give it a fake one. */
export interface Clock {
  /** Milliseconds since the epoch. May jump. */
  now(): number;
  /** Milliseconds from an arbitrary start. Never goes back; deadlines and durations are measured on it. */
  monotonicMs(): number;
  /** Calls back once after `delayMs`, unless the returned function was called before. */
  after(delayMs: number, callback: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  after: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};
