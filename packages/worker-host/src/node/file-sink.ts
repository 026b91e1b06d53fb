import { type FileHandle, open } from "node:fs/promises";
import { type AuditSink, type EventRecord, lineOf, recordOf, type SinkState } from "@keyhole/kernel";
import { keepTail } from "./keep-tail.ts";
import { syncFolderOf } from "./sync-folder.ts";
import { type Place, scanLog } from "./scan-log.ts";

export interface FileSinkOptions {
  /**
   * `batch` (the default): a batch is on the disk before `append` resolves. `never`: the operating system writes when it likes; a crash of the
   * process loses nothing, one of the machine loses the last seconds, and the log does not show that there was more.
   */
  readonly fsync?: "batch" | "never";
}

export interface FileSink extends AuditSink {
  /** Ends the use of the file; the kernel has to be closed before. */
  close(): Promise<void>;
}

/**
 * The audit log in a file of JSON Lines. Each line is framed by its end and by its digest, which is its last member and covers all before it. A line that a crash tore
 * has no end; opening moves it to a file beside the log, `PATH.torn-OFFSET`. Rows of other kernels are refused: one file has one writer.
 *
 * @example
 * const sink = fileSink("/var/log/agent.jsonl");
 * const kernel = await createKernel({ sink });
 */
export function fileSink(path: string, { fsync = "batch" }: FileSinkOptions = {}): FileSink {
  let file: FileHandle | undefined;
  let places: Place[] = [];
  let nextSeq = 0;
  let size = 0;
  const opened = (): FileHandle => {
    if (!file) throw new Error("the log file is not open");
    return file;
  };

  return {
    async open(): Promise<SinkState> {
      await file?.close();
      file = await openFile(path);
      const found = await scanLog(file);
      ({ places, size } = found);
      nextSeq = found.last ? found.last.seq + 1 : 0;
      const cutBytes = found.size - found.end;
      if (cutBytes > 0) {
        await keepTail(file, path, found);
        await file.truncate(found.end);
        await file.datasync();
        size = found.end;
      }
      return { last: found.last, cutBytes, damage: found.damage };
    },

    async append(records) {
      const handle = opened();
      await checkOwn(handle, size);
      let text = "";
      const added: Place[] = [];
      let end = size;
      for (const record of records) {
        const seq = nextSeq + added.length;
        if (record.seq !== seq) throw new Error(`the log expects seq ${seq}, not ${record.seq}`);
        const line = `${lineOf(record)}\n`;
        const start = end;
        end += Buffer.byteLength(line);
        added.push({ seq, start, end });
        text += line;
      }
      await handle.appendFile(text);
      if (fsync === "batch") await handle.datasync();
      // Another kernel can have looked at the same time as this one, and written as well.
      await checkOwn(handle, end);
      for (const place of added) places.push(place);
      nextSeq += records.length;
      size = end;
    },

    async read(fromSeq, limit) {
      const handle = opened();
      // In a whole log the numbers have no gaps; in a damaged one a record lies before the place where it would be.
      let from = Math.max(0, Math.min(places.length, fromSeq - (places[0]?.seq ?? 0)));
      while (from > 0 && places[from - 1]!.seq >= fromSeq) from--;
      const wanted = places.slice(from, from + limit);
      const start = wanted[0]?.start ?? 0;
      const bytes = Buffer.alloc((wanted.at(-1)?.end ?? start) - start);
      await handle.read(bytes, 0, bytes.length, start);
      return wanted.map((place) => writtenRecord(bytes.toString("utf8", place.start - start, place.end - start - 1)));
    },

    async close() {
      await file?.close();
      file = undefined;
    },
  };
}

/** That nobody else wrote, and that the file is still one that somebody can find. */
async function checkOwn(file: FileHandle, expectedBytes: number): Promise<void> {
  const { size, nlink } = await file.stat();
  if (size !== expectedBytes) throw new Error("somebody else wrote into the log file");
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
  if (!record) throw new Error("a line of the log file is no event any more");
  return record;
}
