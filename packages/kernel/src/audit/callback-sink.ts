import { memorySink } from "./memory-sink.ts";
import { copyOf } from "./record.ts";
import { type AuditSink, waitFor } from "./sink.ts";

/**
 * Hands every batch on (to a queue, a service, a logger) and keeps the last events in memory for
 * readers. A batch is durable when `write` has resolved. After a restart the kernel begins a new
 * log. A log that continues needs a sink that can read.
 */
export function callbackSink(write: AuditSink["append"], maxEvents?: number): AuditSink {
  const kept = memorySink(maxEvents);
  return {
    isVolatile: true,
    open: () => kept.open(),
    append(records) {
      const written = waitFor(write(records.map(copyOf)));
      return written ? written.then(() => kept.append(records)) : kept.append(records);
    },
    read: (fromSeq, limit) => kept.read(fromSeq, limit),
  };
}
