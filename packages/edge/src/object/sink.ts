import {
  type AuditSink,
  type EarlierEvents,
  type EventRecord,
  hashText,
  lineOf,
  recordOf,
  type SinkState,
} from "@keyhole/kernel";
import type { ObjectClock } from "./object-clock.ts";

/** Rows per statement: each binds two values, and a statement takes 100. */
const ROWS = 50;

/** Characters of the events of one row, unless one event alone has more: a reader that wants one of them has all. */
const ROW_CHARACTERS = 100_000;

/** Characters of one row of a checkpoint: a row has at most 2 MB, and a character up to 3 bytes. */
const PART_CHARACTERS = 500_000;

/**
 * The audit log in a Durable Object's SQLite storage. A batch is one transaction. The object's
 * output gate holds back everything that the kernel sends (the answer, the call into the sandbox)
 * until that transaction is durable. So `append` need not wait for the disk.
 *
 * Cloudflare bills each written row. So the events of a batch share rows: a row has the number of its first event, and a line for each.
 */
export function sqlSink(storage: DurableObjectStorage): AuditSink {
  const { sql } = storage;
  sql.exec("CREATE TABLE IF NOT EXISTS audit (seq INTEGER PRIMARY KEY, event TEXT NOT NULL) STRICT");
  sql.exec("CREATE TABLE IF NOT EXISTS audit_checkpoint (part INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT");
  const rowAt = (order: "ASC" | "DESC"): Row | undefined =>
    sql.exec<Row>(`SELECT seq, event FROM audit ORDER BY seq ${order} LIMIT 1`).toArray()[0];
  return {
    open: () => stateOf(rowAt("ASC"), rowAt("DESC")),
    append(records) {
      storage.transactionSync(() => {
        const row = rowAt("DESC");
        let next = row ? lastIn(row).seq + 1 : 0;
        for (const record of records) {
          // Two kernels on one log would fork the chain: the second one loses here.
          if (record.seq !== next) throw new Error(`the log expects seq ${next}, not ${record.seq}`);
          next++;
        }
        const rows = rowsOf(records);
        for (let i = 0; i < rows.length; i += ROWS) {
          const some = rows.slice(i, i + ROWS);
          const places = some.map(() => "(?, ?)").join(", ");
          sql.exec(
            `INSERT INTO audit (seq, event) VALUES ${places}`,
            ...some.flatMap(({ seq, event }) => [seq, event]),
          );
        }
      });
    },
    read: (fromSeq, limit) => recordsFrom(sql, fromSeq, limit),
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

/** As few as hold them. */
function rowsOf(records: readonly EventRecord[]): Row[] {
  const rows: { seq: number; event: string }[] = [];
  for (const record of records) {
    const line = lineOf(record);
    const row = rows.at(-1);
    if (row && row.event.length + line.length < ROW_CHARACTERS) row.event += `\n${line}`;
    else rows.push({ seq: record.seq, event: line });
  }
  return rows;
}

function recordsFrom(sql: SqlStorage, fromSeq: number, limit: number): EventRecord[] {
  const found: EventRecord[] = [];
  if (limit < 1) return found;
  const query =
    "SELECT seq, event FROM audit WHERE seq >= ifnull((SELECT max(seq) FROM audit WHERE seq <= ?), 0) ORDER BY seq";
  // Row by row: a cursor reads no further than its caller asks.
  for (const row of sql.exec<Row>(query, fromSeq))
    for (const record of recordsIn(row)) {
      if (record.seq < fromSeq) continue;
      found.push(record);
      if (found.length >= limit) return found;
    }
  return found;
}

/** In order, each with a number of its own. Omits damaged rows: the kernel finds the gap. */
function recordsIn({ seq, event }: Row): EventRecord[] {
  let next = seq;
  return event.split("\n").flatMap((line) => {
    const record = recordOf(line);
    if (!record || record.seq < next) return [];
    next = record.seq + 1;
    return [record];
  });
}

/** Between two readings of a whole log: Cloudflare bills each row that it reads, and an object is opened again after each pause of some seconds. */
const VERIFY_EVERY_MS = 86_400_000;

/**
 * The `verifyEarlier` of a kernel: `false` where the events were verified within a day. Otherwise the object stays in memory until they are. The day begins
 * with the end of the verification: one that the object did not live to see begins again.
 */
export function dueVerification(
  { sql }: Pick<DurableObjectStorage, "sql">,
  clock: ObjectClock,
): false | ((earlier: EarlierEvents) => void) {
  sql.exec("CREATE TABLE IF NOT EXISTS audit_verified (id INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL) STRICT");
  const [last] = sql.exec<{ at_ms: number }>("SELECT at_ms FROM audit_verified").toArray();
  // A clock that went back has not shown that a day is over, and must not put it off for long either.
  if (last && Math.abs(clock.now() - last.at_ms) < VERIFY_EVERY_MS) return false;
  const release = clock.hold();
  return (earlier) => {
    release();
    if (earlier === "verified") sql.exec("INSERT OR REPLACE INTO audit_verified VALUES (0, ?)", clock.now());
  };
}

function* partsOf(text: string): Iterable<string> {
  for (let from = 0; from < text.length;) {
    let to = from + PART_CHARACTERS;
    // The store takes no half of a character.
    if (!text.slice(from, to).isWellFormed()) to--;
    yield text.slice(from, to);
    from = to;
  }
}

interface Row extends Record<string, SqlStorageValue> {
  /** Of its first event. */
  readonly seq: number;
  /** A line for each event. */
  readonly event: string;
}

/** The number of a row's last event, and its record; without one where it was overwritten. */
function lastIn({ seq, event }: Row): { readonly seq: number; readonly record?: EventRecord } {
  const record = recordOf(event.slice(event.lastIndexOf("\n") + 1));
  if (record && record.seq >= seq) return { seq: record.seq, record };
  return { seq: seq + event.split("\n").length - 1 };
}

/** The kernel finds what is missing in between. */
function stateOf(first: Row | undefined, row: Row | undefined): SinkState {
  if (!first || !row) return { last: undefined, cutBytes: 0, damage: null };
  const { seq, record } = lastIn(row);
  const gap = first.seq === 0 ? null : "Event 0 of the log is missing.";
  if (record) return { last: record, cutBytes: 0, damage: gap };
  // The number continues, and the chain shows the break.
  const body = JSON.stringify(row.event);
  return { last: { seq, body, hash: hashText(body) }, cutBytes: 0, damage: `Event ${seq} of the log was overwritten.` };
}
