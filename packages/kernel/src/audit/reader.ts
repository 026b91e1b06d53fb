import * as limits from "../limits.ts";
import type { AuditEvent } from "./event.ts";
import type { AuditLog } from "./log.ts";
import { readPages } from "./read-pages.ts";

export interface AuditReader {
  /** `false` once the sink failed: from then on this kernel runs nothing, and every call ends as `AUDIT_UNAVAILABLE`. */
  readonly writable: boolean;
  /** In order, from `fromSeq` on, by default 0. At most `limit`; default: all. */
  read(fromSeq?: number, limit?: number): Promise<readonly AuditEvent[]>;
  /** Every event from now on, in order, once it is durable. Returns the way to stop. */
  subscribe(listener: (event: AuditEvent) => void): () => void;
}

export function readerOf(log: AuditLog): AuditReader {
  return {
    get writable() {
      return log.writable;
    },
    read: (fromSeq = 0, limit = Infinity) =>
      readPages((from, most) => log.read(from, most), fromSeq, limit, limits.memoryEvents),
    subscribe: (listener) => log.subscribe(listener),
  };
}
