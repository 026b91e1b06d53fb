/** More than the events of a call take. */
const PROBE_BYTES = 65_536;
/** So long an answer stands: every client may ask, and each look writes two rows. */
const STANDS_MS = 10_000;

/**
 * Finds out whether an object's storage takes a write before a call has to. It writes once and lets go of the room again, in two transactions: within one, SQLite would
 * write nothing. Where the storage is full the platform resets the object, which its next call would have done.
 *
 * @returns rejects where the storage took none
 */
export function writeProbe(storage: DurableObjectStorage): () => Promise<void> {
  const { sql } = storage;
  let askedAtMs = -Infinity;
  let answer = Promise.resolve();
  const look = async (): Promise<void> => {
    sql.exec("CREATE TABLE IF NOT EXISTS probe (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT");
    sql.exec("INSERT OR REPLACE INTO probe VALUES (0, zeroblob(?))", PROBE_BYTES);
    await storage.sync();
    sql.exec("DELETE FROM probe");
    await storage.sync();
  };
  return () => {
    const nowMs = Date.now();
    if (nowMs - askedAtMs < STANDS_MS) return answer;
    askedAtMs = nowMs;
    answer = look();
    return answer;
  };
}
