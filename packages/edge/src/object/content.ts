import { type ContentStore, isDigest } from "@keyhole/kernel";

/** A row takes 2 MB. */
const CHUNK_BYTES = 1_048_576;
/** A reader has it whole, in the memory of a Worker. */
const MAX_BYTES = 33_554_432;

export interface SqlContentOptions {
  /** Of all outputs that callers took by reference: beyond it the oldest are dropped, so that no caller can fill the storage that the log needs. Default 256 MiB. */
  readonly outputBytes?: number;
}

/**
 * A content store in a Durable Object's SQLite storage, beside the log: what an event commits to is there when the event is, because the object's output gate
 * holds back what the kernel sends on until both are durable.
 */
export function sqlContent(
  storage: DurableObjectStorage,
  { outputBytes = 268_435_456 }: SqlContentOptions = {},
): ContentStore {
  const { sql } = storage;
  sql.exec(
    "CREATE TABLE IF NOT EXISTS content (digest TEXT, place INTEGER, bytes BLOB NOT NULL, turn INTEGER NOT NULL, PRIMARY KEY (digest, place)) STRICT, WITHOUT ROWID",
  );
  // The turn of what stays is 0; of outputs the lowest is the oldest.
  const makeRoom = (): void => {
    const outputs = sql
      .exec<{ digest: string; size: number }>(
        "SELECT digest, sum(length(bytes)) AS size FROM content WHERE turn > 0 GROUP BY digest ORDER BY max(turn)",
      )
      .toArray();
    let total = outputs.reduce((sum, { size }) => sum + size, 0);
    for (const { digest, size } of outputs) {
      if (total <= outputBytes) return;
      sql.exec("DELETE FROM content WHERE digest = ?", digest);
      total -= size;
    }
  };
  const nextTurn = (): number =>
    sql.exec<{ turn: number }>("SELECT ifnull(max(turn), 0) + 1 AS turn FROM content").one().turn;
  const chunksOf = (digest: string): SqlStorageCursor<{ bytes: ArrayBuffer }> =>
    sql.exec<{ bytes: ArrayBuffer }>("SELECT bytes FROM content WHERE digest = ? ORDER BY place", digest);
  const sizeOf = (digest: string): number | null =>
    sql.exec<{ size: number | null }>("SELECT sum(length(bytes)) AS size FROM content WHERE digest = ?", digest).one()
      .size;
  const isThere = (digest: string): boolean =>
    sql.exec("SELECT 1 FROM content WHERE digest = ? AND place = 0", digest).toArray().length > 0;
  return {
    maxBytes: MAX_BYTES,
    async put(foreign, bytes, use) {
      const digest = checked(foreign);
      const most = use === "output" ? Math.min(MAX_BYTES, outputBytes) : MAX_BYTES;
      if (bytes.length > most) throw new Error(`the content store takes values of ${most} bytes`);
      storage.transactionSync(() => {
        const turn = use === "output" ? nextTurn() : 0;
        // What stays does not become an output again.
        sql.exec("UPDATE content SET turn = ? WHERE digest = ? AND turn > 0", turn, digest);
        if (isThere(digest)) return;
        for (let at = 0; at === 0 || at < bytes.length; at += CHUNK_BYTES) {
          const chunk = bytes.slice(at, at + CHUNK_BYTES);
          sql.exec("INSERT INTO content VALUES (?, ?, ?, ?)", digest, at / CHUNK_BYTES, chunk.buffer, turn);
        }
        if (use === "output") makeRoom();
      });
    },
    async get(foreign) {
      const digest = checked(foreign);
      const size = sizeOf(digest);
      if (size === null) return undefined;
      // Row by row: a Worker has no memory for the largest value and copies of it.
      const whole = new Uint8Array(size);
      let at = 0;
      for (const { bytes } of chunksOf(digest)) {
        whole.set(new Uint8Array(bytes), at);
        at += bytes.byteLength;
      }
      return whole;
    },
    async delete(foreign) {
      sql.exec("DELETE FROM content WHERE digest = ?", checked(foreign));
    },
  };
}

/** @throws TypeError for what is no digest: a bug in the caller. */
function checked(digest: string): string {
  if (isDigest(digest)) return digest;
  throw new TypeError(`${JSON.stringify(String(digest).slice(0, 100))} is no digest`);
}
