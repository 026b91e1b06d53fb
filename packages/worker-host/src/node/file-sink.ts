import { fstatSync, writeSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { type AuditSink, type EventRecord, lineOf, recordOf, type SinkState } from "@keyhole/kernel";
import { knownOptions } from "@keyhole/kernel/foreign";
import { type CheckpointAt, readCheckpointFile, writeCheckpointFile } from "./checkpoint-file.ts";
import { type FileLock, lockFile } from "./file-lock.ts";
import { keepTail } from "./keep-tail.ts";
import { syncFolderOf } from "./sync-folder.ts";
import { type EventSpan, scanLog } from "./scan-log.ts";

export { LogInUse } from "./file-lock.ts";

export type FileSync = "batch" | "second" | "never";

const syncs: readonly unknown[] = ["batch", "second", "never"] satisfies FileSync[];

export interface FileSinkOptions {
  /**
   * `batch` (the default): a batch is on the disk before `append` resolves. `second`: it is there
   * a second later. `never`: the operating system decides when it writes. With the latter two, a
   * crash of the process loses nothing. A crash of the machine loses the last second, or the last
   * seconds, and the log does not show the loss.
   */
  readonly fsync?: FileSync;
}

export interface FileSink extends AuditSink {
  /** Ends the use of the file. The kernel's `close` calls it. */
  close(): Promise<void>;
}

/**
 * The audit log in a file of JSON Lines. Each line is framed by its end and by its digest, which is its last member and covers all before it. A line that a crash tore
 * has no end; opening moves it to a file beside the log, `PATH.torn-OFFSET`. Another one, `PATH.checkpoint`, shortens opening, and can be removed. One file has one writer:
 * opening takes the lock `PATH.lock`, and rejects with {@link LogInUse} where another sink has it. The operating system frees the lock of a process that ends.
 *
 * @example
 * const sink = fileSink("/var/log/agent.jsonl");
 * const kernel = await createKernel({ sink });
 */
export function fileSink(path: string, options: FileSinkOptions = {}): FileSink {
  const { fsync = "batch" } = knownOptions(options, { fsync: true }, "fileSink");
  if (!syncs.includes(fsync))
    throw new TypeError(`\`fsync\` of fileSink is ${syncs.join(", ")}, not ${String(fsync)}.`);
  return new LogFile(path, fsync);
}

class LogFile implements FileSink {
  readonly #path: string;
  readonly #fsync: FileSync;
  #lock: FileLock | undefined;
  #file: FileHandle | undefined;
  /**
   * The span of each record from {@link #checkpoint} on, in order; of all records after a read of
   * an earlier one.
   */
  #spans: EventSpan[] = [];
  #checkpoint: CheckpointAt | undefined;
  #earlier: Promise<void> | undefined;
  #writing: Promise<void> | undefined;
  #nextSeq = 0;
  #size = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Of the last second; `undefined` where none is under way. */
  #syncing: Promise<void> | undefined;
  /** Why the last batches may not be on the disk. */
  #syncFault: Error | undefined;

  constructor(path: string, fsync: FileSync) {
    this.#path = path;
    this.#fsync = fsync;
  }

  async open(): Promise<SinkState> {
    await this.#closeFile();
    const file = await openFile(this.#path);
    try {
      // Before all else: to another kernel's log, also a torn end is an event on its way.
      this.#lock ??= lockFile(this.#path);
    } catch (error) {
      await file.close();
      throw error;
    }
    this.#file = file;
    const { known, lostSeq } = await readCheckpointFile(this.#path, file);
    this.#checkpoint = known;
    this.#earlier = undefined;
    const found = await scanLog(file, known && { from: known.span.end, before: known.record });
    this.#spans = known ? [known.span, ...found.spans] : found.spans;
    this.#size = found.size;
    this.#nextSeq = found.last ? found.last.seq + 1 : 0;
    const cutBytes = found.size - found.end;
    if (cutBytes > 0) {
      await keepTail(file, this.#path, found);
      await file.truncate(found.end);
      await file.datasync();
      this.#size = found.end;
    }
    const lost = lostSeq === undefined ? null : `Event ${lostSeq} is missing: the log ends before its checkpoint.`;
    return { last: found.last, cutBytes, damage: found.damage ?? lost };
  }

  async append(records: readonly EventRecord[]): Promise<void> {
    const file = this.#opened();
    if (this.#syncFault) throw this.#syncFault;
    checkOwn(file, this.#size);
    let text = "";
    const added: EventSpan[] = [];
    let end = this.#size;
    for (const record of records) {
      const seq = this.#nextSeq + added.length;
      if (record.seq !== seq) throw new Error(`the log expects seq ${seq}, not ${record.seq}`);
      const line = `${lineOf(record)}\n`;
      const start = end;
      end += Buffer.byteLength(line);
      added.push({ seq, start, end });
      text += line;
    }
    await appendText(file, text, end - this.#size);
    if (this.#fsync === "batch") await file.datasync();
    else if (this.#fsync === "second") this.#timer ??= setTimeout(() => void this.#syncNow(file), 1_000);
    // Another kernel can have looked at the same time as this one, and written as well.
    checkOwn(file, end);
    for (const span of added) this.#spans.push(span);
    this.#nextSeq += records.length;
    this.#size = end;
  }

  async read(fromSeq: number, limit: number): Promise<EventRecord[]> {
    const file = this.#opened();
    if (this.#checkpoint && fromSeq < this.#checkpoint.span.seq) await this.#indexEarlier();
    const spans = this.#spans;
    // In a whole log the numbers have no gaps; in a damaged one a record lies before the place where it would be.
    let from = Math.max(0, Math.min(spans.length, fromSeq - (spans[0]?.seq ?? 0)));
    while (from > 0 && spans[from - 1]!.seq >= fromSeq) from--;
    const wanted = spans.slice(from, from + limit);
    const start = wanted[0]?.start ?? 0;
    const bytes = Buffer.alloc((wanted.at(-1)?.end ?? start) - start);
    await file.read(bytes, 0, bytes.length, start);
    return wanted.map((span) => writtenRecord(bytes.toString("utf8", span.start - start, span.end - start - 1)));
  }

  async readCheckpoint(): Promise<string | undefined> {
    return this.#checkpoint?.text;
  }

  async writeCheckpoint(text: string, seq: number): Promise<void> {
    const span = this.#spans.findLast((each) => each.seq === seq);
    if (!span) return;
    this.#writing = this.#writeCheckpoint({ span, text });
    await this.#writing;
  }

  /** Behind its event: a checkpoint without it shows a log that lost events. */
  async #writeCheckpoint(checkpoint: CheckpointAt): Promise<void> {
    if (this.#fsync !== "batch") await this.#opened().datasync();
    await writeCheckpointFile(this.#path, checkpoint);
  }

  async close(): Promise<void> {
    const isUnsynced = this.#timer !== undefined || this.#syncing !== undefined;
    await this.#closeFile();
    this.#lock?.release();
    this.#lock = undefined;
    if (isUnsynced && this.#syncFault) throw this.#syncFault;
  }

  /** Before it the last batches are on the disk: no timer meets a file that is closed. */
  async #closeFile(): Promise<void> {
    await this.#writing?.catch(() => undefined);
    await this.#syncing;
    if (this.#timer && this.#file) await this.#syncNow(this.#file);
    await this.#file?.close();
    this.#file = undefined;
  }

  /** A fault fails the next batch: nothing runs that may not be on record. */
  #syncNow(file: FileHandle): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const syncing = file
      .datasync()
      .catch((error: unknown) => {
        this.#syncFault = error instanceof Error ? error : new Error(String(error));
      })
      .finally(() => {
        if (this.#syncing === syncing) this.#syncing = undefined;
      });
    return (this.#syncing = syncing);
  }

  #indexEarlier(): Promise<void> {
    const { start } = this.#checkpoint!.span;
    this.#earlier ??= scanLog(this.#opened(), { to: start }).then(({ spans }) => {
      this.#spans = [...spans, ...this.#spans];
    });
    return this.#earlier;
  }

  #opened(): FileHandle {
    if (!this.#file) throw new Error("the log file is not open");
    return this.#file;
  }
}

/** Longer ones leave this thread to others while the system copies them. */
const SHORT_BYTES = 65_536;

/**
 * A trip through Node's thread pool costs more than a short synchronous write, and each call of a
 * tool would make several.
 */
async function appendText(file: FileHandle, text: string, byteLength: number): Promise<void> {
  if (byteLength > SHORT_BYTES) return file.appendFile(text);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length;) at += writeSync(file.fd, bytes, at);
}

/** Checks that no other writer wrote, and that the path still names this file. */
function checkOwn({ fd }: FileHandle, expectedBytes: number): void {
  const { size, nlink } = fstatSync(fd);
  if (size !== expectedBytes) throw new Error("another process wrote to the log file");
  if (nlink === 0) throw new Error("the log file was removed");
}

/** A new file is only there after a crash when its folder was written too. */
async function openFile(path: string): Promise<FileHandle> {
  const file = await open(path, "a+", 0o600);
  await syncFolderOf(path);
  return file;
}

function writtenRecord(line: string): EventRecord {
  const record = recordOf(line);
  if (!record) throw new Error("a line of the log file is no longer an event");
  return record;
}
