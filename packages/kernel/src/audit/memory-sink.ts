import { limits } from "../limits.ts";
import type { EventRecord } from "./record.ts";
import type { AuditSink } from "./sink.ts";

/** Keeps the last `maxEvents` events; older ones are forgotten. */
export function memorySink(maxEvents: number = limits.memoryEvents): AuditSink {
  let records: EventRecord[] = [];
  return {
    open: () => ({ last: records.at(-1), cutBytes: 0, damage: null }),
    append(batch) {
      for (const record of batch) records.push(record);
      // Cut in halves, so that a full log does not copy itself at every event.
      if (records.length >= 2 * maxEvents) records = records.slice(-maxEvents);
    },
    read(fromSeq, limit) {
      const kept = records.slice(-maxEvents);
      const first = kept[0]?.seq ?? 0;
      const start = Math.max(0, fromSeq - first);
      return kept.slice(start, start + limit);
    },
  };
}
