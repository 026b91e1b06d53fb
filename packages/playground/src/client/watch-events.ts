import type { AuditEvent } from "@keyhole/kernel";
import { type Edge, readAuditPage } from "@keyhole/worker-host/edge-protocol";

/** After an answer that did not come. */
const pauseMs = 2_000;
/** After an answer: what comes until then is one part. An inspector answers at the first event. */
export const gapMs = 100;

/** Asks for events one part after the other, at most ten a second. The page requests an unreadable part again. */
export function watchEvents(
  edge: Pick<Edge, "get">,
  start: number | string,
  listener: (events: readonly AuditEvent[]) => void,
): () => void {
  let isStopped = false;
  const run = async (): Promise<void> => {
    let from = start;
    while (!isStopped) {
      try {
        const { events, next } = readAuditPage(await edge.get(`/v1/audit?from=${encodeURIComponent(from)}`));
        from = next;
        if (!isStopped && events.length > 0) listener(events);
        await pause(gapMs);
      } catch {
        await pause(pauseMs);
      }
    }
  };
  void run();
  return () => {
    isStopped = true;
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
