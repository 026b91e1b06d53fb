import { type AuditSink, type EventRecord, lineOf, recordOf } from "@keyhole/kernel";

/**
 * The audit log in a Durable Object's SQLite storage. A batch is one transaction, and the object's output gate holds back whatever the
 * kernel sends on (the answer, the call into the sandbox) until that transaction is durable; so `append` need not wait for the disk.
 */
export function sqlSink(storage: DurableObjectStorage): AuditSink {
  const { sql } = storage;
  sql.exec("CREATE TABLE IF NOT EXISTS audit (seq INTEGER PRIMARY KEY, event TEXT NOT NULL) STRICT");
  const lastSeq = (): number =>
    Number(sql.exec<{ seq: number | null }>("SELECT max(seq) AS seq FROM audit").one().seq ?? -1);
  const read = (fromSeq: number, limit: number): EventRecord[] =>
    sql
      .exec<{ event: string }>("SELECT event FROM audit WHERE seq >= ? ORDER BY seq LIMIT ?", fromSeq, limit)
      .toArray()
      .map(({ event }) => storedRecord(event));
  return {
    open: () => ({ last: lastSeq() < 0 ? undefined : read(lastSeq(), 1)[0], cutBytes: 0, damage: null }),
    append(records) {
      storage.transactionSync(() => {
        let next = lastSeq() + 1;
        for (const record of records) {
          // Two kernels on one log would fork the chain: the second one loses here.
          if (record.seq !== next) throw new Error(`the log expects seq ${next}, not ${record.seq}`);
          sql.exec("INSERT INTO audit (seq, event) VALUES (?, ?)", record.seq, lineOf(record));
          next++;
        }
      });
    },
    read,
  };
}

/** Our own rows; the kernel checks chain and digests of what it reads. */
function storedRecord(line: string): EventRecord {
  const record = recordOf(line);
  if (!record) throw new Error("a row of the audit table is no event");
  return record;
}
