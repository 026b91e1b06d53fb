import type { AuditEvent } from "./event.ts";

/**
 * Where the log is kept. Appends arrive in order, one batch at a time. A batch that returns is durable; one that throws or rejects makes
 * the log unavailable, and then nothing runs. `test/contract/sink.ts` says what every sink must do.
 */
export interface AuditSink {
  append(events: readonly AuditEvent[]): void | Promise<void>;
  /** In order, from `fromSeq` (inclusive), at most `limit`. */
  read(fromSeq: number, limit: number): readonly AuditEvent[] | Promise<readonly AuditEvent[]>;
  /** The last event, from which a restarted kernel goes on; `undefined` for an empty log. */
  last(): AuditEvent | undefined | Promise<AuditEvent | undefined>;
}
