import { type AuditSink, type EventRecord, hashText, lineOf, recordOf, type SinkState } from "@keyhole/kernel";

/** Rows per statement: each binds two values, and a statement takes 100. */
const ROWS = 50;

/** Characters of one row of a checkpoint: a row has at most 2 MB, and a character up to 3 bytes. */
const PART_CHARACTERS = 500_000;

/**
 * The audit log in a Durable Object's SQLite storage. A batch is one transaction, and the object's output gate holds back whatever the
 * kernel sends on (the answer, the call into the sandbox) until that transaction is durable; so `append` need not wait for the disk.
 */
export function sqlSink(storage: DurableObjectStorage): AuditSink {
  const { sql } = storage;
  sql.exec("CREATE TABLE IF NOT EXISTS audit (seq INTEGER PRIMARY KEY, event TEXT NOT NULL) STRICT");
  sql.exec("CREATE TABLE IF NOT EXISTS audit_checkpoint (part INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT");
  const lastSeq = (): number =>
    Number(sql.exec<{ seq: number | null }>("SELECT max(seq) AS seq FROM audit").one().seq ?? -1);
  return {
    open() {
      const end = (order: "ASC" | "DESC"): Row | undefined =>
        sql.exec<Row>(`SELECT seq, event FROM audit ORDER BY seq ${order} LIMIT 1`).toArray()[0];
      return stateOf(end("ASC"), end("DESC"));
    },
    append(records) {
      storage.transactionSync(() => {
        let next = lastSeq() + 1;
        for (const record of records) {
          // Two kernels on one log would fork the chain: the second one loses here.
          if (record.seq !== next) throw new Error(`the log expects seq ${next}, not ${record.seq}`);
          next++;
        }
        for (let i = 0; i < records.length; i += ROWS) {
          const rows = records.slice(i, i + ROWS);
          const places = rows.map(() => "(?, ?)").join(", ");
          sql.exec(
            `INSERT INTO audit (seq, event) VALUES ${places}`,
            ...rows.flatMap((record) => [record.seq, lineOf(record)]),
          );
        }
      });
    },
    read: (fromSeq, limit) =>
      sql
        .exec<Row>("SELECT seq, event FROM audit WHERE seq >= ? ORDER BY seq LIMIT ?", fromSeq, Math.max(0, limit))
        .toArray()
        // What is no event any more is left out: the kernel finds the gap.
        .flatMap((row) => readRecord(row) ?? []),
    readCheckpoint: () =>
      sql
        .exec<{ text: string }>("SELECT text FROM audit_checkpoint ORDER BY part")
        .toArray()
        .map(({ text }) => text)
        .join("") || undefined,
    writeCheckpoint(text) {
      storage.transactionSync(() => {
        sql.exec("DELETE FROM audit_checkpoint");
        for (const part of partsOf(text)) sql.exec("INSERT INTO audit_checkpoint (text) VALUES (?)", part);
      });
    },
  };
}

/** Between two readings of a whole log: each row that is read is billed, and an object is opened again after each pause of some seconds. */
const VERIFY_EVERY_MS = 86_400_000;

/** Whether the log of this object is to be verified from its beginning now. At most once a day: the day begins with this question. */
export function verifiesToday({ sql }: Pick<DurableObjectStorage, "sql">, nowMs: number): boolean {
  sql.exec("CREATE TABLE IF NOT EXISTS audit_verification (id INTEGER PRIMARY KEY, began_ms INTEGER NOT NULL) STRICT");
  const [last] = sql.exec<{ began_ms: number }>("SELECT began_ms FROM audit_verification").toArray();
  // A clock that went back has not shown that a day is over, and must not put it off for long either.
  if (last && Math.abs(nowMs - last.began_ms) < VERIFY_EVERY_MS) return false;
  sql.exec("INSERT OR REPLACE INTO audit_verification VALUES (0, ?)", nowMs);
  return true;
}

function* partsOf(text: string): Iterable<string> {
  for (let from = 0; from < text.length;) {
    let to = from + PART_CHARACTERS;
    // Half a character cannot be stored.
    if (!text.slice(from, to).isWellFormed()) to--;
    yield text.slice(from, to);
    from = to;
  }
}

interface Row extends Record<string, SqlStorageValue> {
  readonly seq: number;
  readonly event: string;
}

/** The kernel finds what is missing in between. */
function stateOf(first: Row | undefined, row: Row | undefined): SinkState {
  if (!first || !row) return { last: undefined, cutBytes: 0, damage: null };
  const { seq, event } = row;
  const last = readRecord(row);
  const gap = first.seq === 0 ? null : "Event 0 of the log is missing.";
  if (last) return { last, cutBytes: 0, damage: gap };
  // The number goes on, and the chain shows the break.
  const body = JSON.stringify(event);
  return { last: { seq, body, hash: hashText(body) }, cutBytes: 0, damage: `Event ${seq} of the log was overwritten.` };
}

function readRecord({ seq, event }: Row): EventRecord | undefined {
  const record = recordOf(event);
  return record?.seq === seq ? record : undefined;
}
