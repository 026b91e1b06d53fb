import { limits } from "../limits.ts";
import type { AuditEvent } from "./event.ts";
import type { AuditSink } from "./sink.ts";

/** Keeps the last `maxEvents` events; older ones are forgotten. */
export function memorySink(maxEvents: number = limits.memoryEvents): AuditSink {
  let events: AuditEvent[] = [];
  return {
    append(batch) {
      events.push(...batch);
      // Cut in halves, so that a full log does not copy itself at every event.
      if (events.length >= 2 * maxEvents) events = events.slice(-maxEvents);
    },
    read(fromSeq, limit) {
      const kept = events.slice(-maxEvents);
      const first = kept[0]?.seq ?? 0;
      const start = Math.max(0, fromSeq - first);
      return kept.slice(start, start + limit);
    },
    last: () => events.at(-1),
  };
}
