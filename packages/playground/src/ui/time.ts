import { useEffect, useState } from "react";

/** Milliseconds since the epoch, told anew in each period; `from` at first. */
export function useNow(from: number, periodMs: number): number {
  const [now, setNow] = useState(from);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), periodMs);
    return () => clearInterval(timer);
  }, [periodMs]);
  return now;
}

/**
 * The value that a reading finds, and `undefined` until then.
 *
 * @param read the same function for the same reading; it rejects never
 */
export function useRead<Found>(read: () => Promise<Found>): Found | undefined {
  const [last, setLast] = useState<{ readonly of: typeof read; readonly found: Found }>();
  useEffect(() => {
    let isLeft = false;
    void read().then((found) => isLeft || setLast({ of: read, found }));
    return () => {
      isLeft = true;
    };
  }, [read]);
  return last?.of === read ? last.found : undefined;
}
