import type { Hash } from "../hash/hash.ts";
import * as limits from "../limits.ts";
import type { DeclaredTable } from "../state/change.ts";
import type { SteadyClock } from "../state/steady-clock.ts";
import { openCallsOf } from "./open-calls.ts";
import type { EventRecord } from "./record.ts";
import type { EventScope } from "./scope.ts";
import type { AuditSink } from "./sink.ts";
import type { StoragePressure } from "./storage-pressure.ts";
import { checkpointText } from "./state-checkpoint.ts";

export interface CheckpointParts {
  readonly sink: AuditSink;
  readonly hash: Hash;
  readonly tables: readonly DeclaredTable[];
  readonly steady: SteadyClock;
  /** Receives the faults of writes. */
  readonly pressure?: StoragePressure;
  /** Default: 10,000. */
  readonly checkpointEvents?: number;
}

/** Writes a checkpoint every some thousand events, once its event is durable. */
export class Checkpoints {
  readonly #parts: CheckpointParts;
  #lastSeq: number;
  #taken: { readonly seq: number; readonly text: string } | undefined;
  #isWriting = false;

  /** @param lastSeq of the event of the checkpoint that is there; -1 for none */
  constructor(parts: CheckpointParts, lastSeq: number) {
    this.#parts = parts;
    this.#lastSeq = lastSeq;
  }

  /** Called in the turn in which the event was recorded and its changes applied, so that state and log are of one moment. */
  recorded({ seq, hash: eventHash }: EventRecord, open: ReadonlyMap<string, EventScope>): void {
    const { sink, hash, tables, steady, checkpointEvents = limits.checkpointEvents } = this.#parts;
    if (seq - this.#lastSeq < checkpointEvents || !sink.writeCheckpoint) return;
    const atMs = steady.now();
    for (const table of tables) table.expire(atMs);
    const rows = tables.flatMap((table) => [...table.rows()]);
    // Writing all rows costs no more than writing the events since.
    this.#lastSeq = seq + Math.max(0, rows.length - checkpointEvents);
    const checkpoint = { seq, hash: eventHash, atMs, rows, openCalls: openCallsOf(open.values()) };
    this.#taken = { seq, text: checkpointText(checkpoint, hash) };
  }

  /** Everything up to an event is durable. */
  durable(lastSeq: number): void {
    if (this.#taken && this.#taken.seq <= lastSeq && !this.#isWriting) void this.#write(this.#taken);
  }

  async #write({ seq, text }: { readonly seq: number; readonly text: string }): Promise<void> {
    this.#taken = undefined;
    this.#isWriting = true;
    try {
      await this.#parts.sink.writeCheckpoint?.(text, seq);
    } catch (error) {
      // The kernel reads the whole log instead.
      this.#parts.pressure?.heard(error);
    } finally {
      this.#isWriting = false;
    }
  }
}
