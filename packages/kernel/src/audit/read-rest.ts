import type { LogReading } from "./log-reading.ts";
import type { AuditSink } from "./sink.ts";

/** Records of a log in one read: some milliseconds of work. */
export const PAGE_EVENTS = 1_000;

/** From an event on, to the last. */
export async function readRest(reading: LogReading, sink: AuditSink, first: number, lastSeq: number): Promise<void> {
  for (let from = first; from <= lastSeq;) {
    const records = await sink.read(from, PAGE_EVENTS);
    for (const record of records) reading.add(record);
    const end = records.at(-1);
    if (!end || end.seq < from) return reading.fault(`Event ${from} of the log is missing.`);
    from = end.seq + 1;
  }
}
