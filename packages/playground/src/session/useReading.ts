import { useEffect, useState } from "react";
import { Paced } from "./paced.ts";
import type { SessionStore } from "./session-store.ts";
import { useSession } from "./useSession.ts";

/** Between two reads: each makes the component compute and draw all of it anew. */
const readMs = 1_000;

/**
 * Reads the session once it is loaded, and again after changes.
 *
 * @param nothing before the first read
 * @param open begins the reading for one component; `left` aborts with it. The same function at each drawing. The returned function does not reject
 */
export function useReading<Read>(
  nothing: Read,
  open: (store: SessionStore, left: AbortSignal) => () => Promise<Read>,
): Read {
  const { store } = useSession();
  const [read, setRead] = useState(nothing);
  useEffect(() => {
    const leaving = new AbortController();
    const next = open(store, leaving.signal);
    const reading = new Paced(async () => {
      const found = await next();
      if (!leaving.signal.aborted) setRead(found);
    }, readMs);
    const ask = (): void => {
      const { isLoaded, fault } = store.state();
      if (isLoaded || fault !== undefined) reading.ask();
    };
    const stop = store.subscribe(ask);
    ask();
    return () => {
      leaving.abort();
      stop();
      reading.stop();
    };
  }, [store, open]);
  return read;
}
