import type { AuditEvent } from "./event.ts";

export interface AuditReader {
  /** `false` once the sink failed: from then on this kernel runs nothing, and every call ends as `AUDIT_UNAVAILABLE`. */
  readonly writable: boolean;
  read(fromSeq?: number, limit?: number): Promise<readonly AuditEvent[]>;
  /** Every event from now on, in order, once it is durable. Returns the way to stop. */
  subscribe(listener: (event: AuditEvent) => void): () => void;
}
