import type { Foreign, Theirs } from "../support/foreign.ts";
import { PAGE_EVENTS } from "./earlier-events.ts";
import type { LogReading } from "./log-reading.ts";
import { readRecords } from "./record.ts";
import type { AuditSink } from "./sink.ts";

/** The damage that a sink reports; `null` only if it reports none. */
export function damageIn(foreign: Foreign<string | null | undefined>): string | null {
  if (typeof foreign === "string") return foreign;
  return foreign === null || foreign === undefined ? null : "The sink reports no details.";
}

/** From the first event that the sink still has, or from a later one on. */
export async function readRest(
  reading: LogReading,
  sink: Theirs<AuditSink>,
  first: number,
  lastSeq: number,
): Promise<void> {
  for (let from = first; from <= lastSeq;) {
    const records = readRecords(await sink.read(from, PAGE_EVENTS), PAGE_EVENTS);
    if (!records) return reading.fault("The sink returned a value that is not a list of events.");
    for (const record of records) reading.add(record);
    const end = records.at(-1);
    if (!end || end.seq < from) return reading.fault(`Event ${from} of the log is missing.`);
    from = end.seq + 1;
  }
}
