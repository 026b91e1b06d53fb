import { type ContentStore, isDigest } from "@keyhole/kernel";

/** A row takes 2 MB. */
const CHUNK_BYTES = 1_048_576;
/** A reader has it whole, in the memory of a Worker. */
const MAX_BYTES = 33_554_432;

/**
 * A content store in a Durable Object's SQLite storage, beside the log: what an event commits to is there when the event is, because the object's output gate
 * holds back what the kernel sends on until both are durable.
 */
export function sqlContent(storage: DurableObjectStorage): ContentStore {
  const { sql } = storage;
  sql.exec(
    "CREATE TABLE IF NOT EXISTS content (digest TEXT, place INTEGER, bytes BLOB NOT NULL, PRIMARY KEY (digest, place)) STRICT, WITHOUT ROWID",
  );
  const chunksOf = (digest: string): Uint8Array[] =>
    sql
      .exec<{ bytes: ArrayBuffer }>("SELECT bytes FROM content WHERE digest = ? ORDER BY place", digest)
      .toArray()
      .map(({ bytes }) => new Uint8Array(bytes));
  const isThere = (digest: string): boolean =>
    sql.exec("SELECT 1 FROM content WHERE digest = ? AND place = 0", digest).toArray().length > 0;
  return {
    async put(foreign, bytes) {
      const digest = checked(foreign);
      if (bytes.length > MAX_BYTES) throw new Error(`the content store takes values of ${MAX_BYTES} bytes`);
      storage.transactionSync(() => {
        if (isThere(digest)) return;
        for (let at = 0; at === 0 || at < bytes.length; at += CHUNK_BYTES) {
          const chunk = bytes.slice(at, at + CHUNK_BYTES);
          sql.exec("INSERT INTO content VALUES (?, ?, ?)", digest, at / CHUNK_BYTES, chunk.buffer);
        }
      });
    },
    async get(foreign) {
      const chunks = chunksOf(checked(foreign));
      if (chunks.length === 0) return undefined;
      return chunks.length === 1 ? chunks[0] : new Uint8Array(await new Blob(chunks).arrayBuffer());
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
