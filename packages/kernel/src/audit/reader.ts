import * as limits from "../limits.ts";
import type { AuditEvent } from "./event.ts";
import type { AuditLog } from "./log.ts";

export interface AuditReader {
  /** `false` once the sink failed: from then on this kernel runs nothing, and every call ends as `AUDIT_UNAVAILABLE`. */
  readonly writable: boolean;
  read(fromSeq?: number, limit?: number): Promise<readonly AuditEvent[]>;
  /** Every event from now on, in order, once it is durable. Returns the way to stop. */
  subscribe(listener: (event: AuditEvent) => void): () => void;
}

export function readerOf(log: AuditLog): AuditReader {
  return {
    get writable() {
      return log.writable;
    },
    read: (fromSeq = 0, limit = limits.memoryEvents) => log.read(fromSeq, limit),
    subscribe: (listener) => log.subscribe(listener),
  };
}
