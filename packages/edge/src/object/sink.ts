import type { AuditEvent, AuditSink } from "@keyhole/kernel";

/**
 * The audit log in a Durable Object's SQLite storage. A batch is one transaction, and the object's output gate holds back whatever the
 * kernel sends on (the answer, the call into the sandbox) until that transaction is durable; so `append` need not wait for the disk.
 */
export function sqlSink(storage: DurableObjectStorage): AuditSink {
  const { sql } = storage;
  sql.exec("CREATE TABLE IF NOT EXISTS audit (seq INTEGER PRIMARY KEY, event TEXT NOT NULL) STRICT");
  const lastSeq = (): number =>
    Number(sql.exec<{ seq: number | null }>("SELECT max(seq) AS seq FROM audit").one().seq ?? -1);
  return {
    append(events) {
      storage.transactionSync(() => {
        let next = lastSeq() + 1;
        for (const event of events) {
          // Two kernels on one log would fork the chain: the second one loses here.
          if (event.seq !== next) throw new Error(`the log expects seq ${next}, not ${event.seq}`);
          sql.exec("INSERT INTO audit (seq, event) VALUES (?, ?)", event.seq, JSON.stringify(event));
          next++;
        }
      });
    },
    read(fromSeq, limit) {
      const rows = sql.exec<{ event: string }>(
        "SELECT event FROM audit WHERE seq >= ? ORDER BY seq LIMIT ?",
        fromSeq,
        limit,
      );
      return rows.toArray().map(eventOf);
    },
    last() {
      const rows = sql.exec<{ event: string }>("SELECT event FROM audit ORDER BY seq DESC LIMIT 1").toArray();
      return rows.map(eventOf)[0];
    },
  };
}

/** Our own rows; the kernel checks chain and hashes of what it reads. */
function eventOf({ event }: { readonly event: string }): AuditEvent {
  return JSON.parse(event) as AuditEvent;
}
