import type { EventRecord } from "./record.ts";

/**
 * The place of the log. Appends arrive in order, one batch at a time. A batch that returns is durable; one that throws or rejects makes
 * the log unavailable, and then nothing runs. `test/contract/sink.ts` says what every sink must do.
 */
export interface AuditSink {
  /** Its events end with the process, and with them all state that a kernel restores from its log. `kernel.health()` says it. Default: `false`. */
  readonly isVolatile?: boolean;
  /** Called once, before everything else. */
  open(): SinkState | Promise<SinkState>;
  append(records: readonly EventRecord[]): void | Promise<void>;
  /** In order, from `fromSeq` (inclusive), at most `limit`. */
  read(fromSeq: number, limit: number): readonly EventRecord[] | Promise<readonly EventRecord[]>;
  /**
   * The text that was last given to `writeCheckpoint`. It shortens opening: the kernel reads the
   * events before it later. The kernel does not trust it, so a sink may lose it. Without these two
   * methods each opening reads the whole log.
   */
  readCheckpoint?(): string | undefined | Promise<string | undefined>;
  /**
   * Stores a text in place of the one before, for the durable event `seq`. A failure has no effect:
   * the kernel writes the text again some thousand events later.
   */
  writeCheckpoint?(text: string, seq: number): void | Promise<void>;
  /** Called once by the kernel's `close`, behind the last event. Frees files and connections. */
  close?(): void | Promise<void>;
}

/** The state of a sink at its opening. */
export interface SinkState {
  /**
   * The last complete record, from which a restarted kernel continues; `undefined` for an empty
   * log.
   */
  readonly last: EventRecord | undefined;
  /** Bytes behind the last whole record, left by a write that a crash tore, which were cut away. */
  readonly cutBytes: number;
  /** Why the log before its tail is damaged, in one sentence; `null` where it is whole. */
  readonly damage: string | null;
}

/**
 * A promise for any thenable. Any other result of a sink, such as the length that `push` returns,
 * means that the batch is stored.
 */
export function waitFor(written: unknown): Promise<unknown> | undefined {
  const isThenable = typeof written === "object" && written !== null && "then" in written;
  return isThenable ? Promise.resolve(written) : undefined;
}
