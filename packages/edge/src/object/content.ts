import { knownOptions } from "@keyhole/kernel/foreign";
import { type ContentStore, isDigest } from "@keyhole/kernel";
import { Shares } from "@keyhole/kernel/context";

/** A row takes 2 MB. */
const CHUNK_BYTES = 1_048_576;
/** A reader has it whole, in the memory of a Worker. */
const MAX_BYTES = 33_554_432;

export interface SqlContentOptions {
  /** Of all outputs that callers took by reference: beyond it the oldest of the caller with the most go, so that no caller can fill the storage that the log needs. Default 256 MiB. */
  readonly outputBytes?: number;
}

/**
 * A content store in a Durable Object's SQLite storage, beside the log. The object's output gate
 * holds back everything that the kernel sends until both are durable. So a value exists when the
 * event that commits to it exists.
 */
export function sqlContent(storage: DurableObjectStorage, options: SqlContentOptions = {}): ContentStore {
  const { outputBytes = 268_435_456 } = knownOptions(options, { outputBytes: 1 }, "sqlContent");
  return new SqlContent(storage, outputBytes);
}

class SqlContent implements ContentStore {
  readonly maxBytes: number = MAX_BYTES;
  readonly #storage: DurableObjectStorage;
  readonly #sql: SqlStorage;
  readonly #outputBytes: number;

  constructor(storage: DurableObjectStorage, outputBytes: number) {
    this.#storage = storage;
    this.#sql = storage.sql;
    this.#outputBytes = outputBytes;
    this.#sql.exec(
      "CREATE TABLE IF NOT EXISTS content (digest TEXT, place INTEGER, bytes BLOB NOT NULL, turn INTEGER NOT NULL, owner TEXT NOT NULL, PRIMARY KEY (digest, place)) STRICT, WITHOUT ROWID",
    );
  }

  async put(foreign: string, bytes: Uint8Array, outputOf?: string): Promise<void> {
    const digest = checked(foreign);
    const most = outputOf !== undefined ? Math.min(MAX_BYTES, this.#outputBytes) : MAX_BYTES;
    if (bytes.length > most) throw new Error(`the content store takes values of ${most} bytes`);
    this.#storage.transactionSync(() => {
      const turn = outputOf !== undefined ? this.#nextTurn() : 0;
      // A stored value does not become an output again.
      this.#sql.exec("UPDATE content SET turn = ? WHERE digest = ? AND turn > 0", turn, digest);
      if (this.#isThere(digest)) return;
      for (let at = 0; at === 0 || at < bytes.length; at += CHUNK_BYTES) {
        const chunk = bytes.slice(at, at + CHUNK_BYTES);
        this.#sql.exec(
          "INSERT INTO content VALUES (?, ?, ?, ?, ?)",
          digest,
          at / CHUNK_BYTES,
          chunk.buffer,
          turn,
          outputOf ?? "",
        );
      }
      if (outputOf !== undefined) this.#makeRoom();
    });
  }

  async get(foreign: string): Promise<Uint8Array | undefined> {
    const digest = checked(foreign);
    const size = this.#sizeOf(digest);
    if (size === null) return undefined;
    // Row by row: a Worker has no memory for the largest value and copies of it.
    const whole = new Uint8Array(size);
    let at = 0;
    for (const { bytes } of this.#chunksOf(digest)) {
      whole.set(new Uint8Array(bytes), at);
      at += bytes.byteLength;
    }
    return whole;
  }

  async delete(foreign: string): Promise<void> {
    this.#sql.exec("DELETE FROM content WHERE digest = ?", checked(foreign));
  }

  /** The turn of what stays is 0; of outputs the lowest is the oldest. */
  #makeRoom(): void {
    const outputs = this.#sql
      .exec<{ digest: string; size: number; owner: string }>(
        "SELECT digest, sum(length(bytes)) AS size, max(owner) AS owner FROM content WHERE turn > 0 GROUP BY digest ORDER BY max(turn)",
      )
      .toArray();
    const left = new Map(outputs.map((output) => [output.digest, output]));
    const bytes = new Shares();
    for (const { owner, size } of outputs) bytes.add(owner, size);
    while (bytes.total > this.#outputBytes) {
      const oldest = left.get(bytes.next(left, ({ owner }) => owner) ?? "");
      if (!oldest) return;
      this.#sql.exec("DELETE FROM content WHERE digest = ?", oldest.digest);
      left.delete(oldest.digest);
      bytes.add(oldest.owner, -oldest.size);
    }
  }

  #nextTurn(): number {
    return this.#sql.exec<{ turn: number }>("SELECT ifnull(max(turn), 0) + 1 AS turn FROM content").one().turn;
  }

  #chunksOf(digest: string): SqlStorageCursor<{ bytes: ArrayBuffer }> {
    return this.#sql.exec<{ bytes: ArrayBuffer }>("SELECT bytes FROM content WHERE digest = ? ORDER BY place", digest);
  }

  #sizeOf(digest: string): number | null {
    const query = "SELECT sum(length(bytes)) AS size FROM content WHERE digest = ?";
    return this.#sql.exec<{ size: number | null }>(query, digest).one().size;
  }

  #isThere(digest: string): boolean {
    return this.#sql.exec("SELECT 1 FROM content WHERE digest = ? AND place = 0", digest).toArray().length > 0;
  }
}

/** @throws TypeError for what is no digest: a bug in the caller. */
function checked(digest: string): string {
  if (isDigest(digest)) return digest;
  throw new TypeError(`${JSON.stringify(String(digest).slice(0, 100))} is not a digest`);
}
