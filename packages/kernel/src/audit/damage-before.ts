import type { Hash } from "../hash/hash.ts";
import type { Clock } from "../isolate/clock.ts";
import type { DeclaredTable } from "../state/change.ts";
import { UnknownTable } from "../state/unknown-table.ts";
import { rowsAt } from "./checkpoint-in.ts";
import { LogReading } from "./log-reading.ts";
import { openCallsOf } from "./open-calls.ts";
import { PAGE_EVENTS } from "./read-rest.ts";
import type { AuditSink } from "./sink.ts";
import type { StateCheckpoint } from "./state-checkpoint.ts";

export interface EarlierParts {
  readonly sink: AuditSink;
  readonly clock: Clock;
  readonly hash: Hash;
  /** Of the kernel; nothing is changed in them. */
  readonly tables: readonly DeclaredTable[];
}

/** Between two pages, for calls. */
const PAUSE_MS = 20;

/**
 * Reads what lies before a checkpoint, page by page beside the calls, and gives what is wrong with it: an event that was changed, or a checkpoint that says something else
 * than the events. `null` where nothing is, or when it was stopped.
 */
export async function damageBefore(
  { sink, clock, hash, tables }: EarlierParts,
  checkpoint: StateCheckpoint,
  isStopped: () => boolean,
): Promise<string | null> {
  const reading = new LogReading(
    hash,
    tables.map((table) => table.empty()),
  );
  for (let from = 0; from <= checkpoint.seq;) {
    await new Promise<void>((resolve) => clock.after(PAUSE_MS, resolve, "idly"));
    if (isStopped()) return null;
    const records = await sink.read(from, PAGE_EVENTS);
    if (isStopped()) return null;
    const before = records.filter(({ seq }) => seq >= from && seq <= checkpoint.seq);
    const last = before.at(-1);
    if (!last) return `Event ${from} of the log is missing.`;
    for (const record of before) reading.add(record);
    if (reading.damage !== null) return reading.damage;
    from = last.seq + 1;
  }
  if (reading.last?.hash !== checkpoint.hash) return `Event ${checkpoint.seq} of the log was changed.`;
  return isSameState(reading, checkpoint, hash) ? null : "The checkpoint of the log contradicts its events.";
}

function isSameState(reading: LogReading, checkpoint: StateCheckpoint, hash: Hash): boolean {
  // Only its feature knows which rows of a table hold no longer.
  const known = reading.tables.filter((table) => !(table instanceof UnknownTable));
  const other = new LogReading(
    hash,
    known.map((table) => table.empty()),
  );
  other.continueFrom(checkpoint);
  const kept = other.tables.filter((table) => !(table instanceof UnknownTable));
  const calls = (each: LogReading): readonly string[] =>
    openCallsOf(each.openCalls)
      .map((call) => JSON.stringify(call))
      .toSorted();
  return isSame(rowsAt(known, checkpoint.atMs), rowsAt(kept, checkpoint.atMs)) && isSame(calls(reading), calls(other));
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((text, at) => text === other[at]);
}
