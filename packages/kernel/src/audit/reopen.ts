import type { DeclaredTable } from "../state/change.ts";
import { checkpointIn } from "./checkpoint-in.ts";
import type { CheckpointParts } from "./checkpoints.ts";
import { LogReading } from "./log-reading.ts";
import { readRest } from "./read-rest.ts";
import type { EventScope } from "./scope.ts";
import type { StateCheckpoint } from "./state-checkpoint.ts";

/** The content of a log that has events. */
export interface Reopened {
  /** Of the kernel, and those that only the log has. */
  readonly tables: readonly DeclaredTable[];
  readonly openCalls: readonly EventScope[];
  readonly damage: string | null;
  readonly checkpoint: StateCheckpoint | undefined;
  /** Since the epoch: of the last row that says when it was written. */
  readonly latestMs: number;
}

/**
 * Reads a log from its checkpoint, or from its first event.
 *
 * @param damage as the sink says; of a damaged log no checkpoint is taken
 * @throws the sink's error
 */
export async function reopen(parts: CheckpointParts, lastSeq: number, damage: string | null): Promise<Reopened> {
  const { sink, hash } = parts;
  const reading = new LogReading(hash, parts.tables);
  const checkpoint = damage === null ? await checkpointIn(parts, lastSeq) : undefined;
  if (checkpoint) reading.continueFrom(checkpoint);
  await readRest(reading, sink, checkpoint ? checkpoint.seq + 1 : 0, lastSeq);
  const { tables, openCalls } = reading;
  return {
    tables,
    openCalls,
    damage: damage ?? reading.damage,
    checkpoint,
    latestMs: Math.max(reading.latestMs, checkpoint?.atMs ?? 0),
  };
}
