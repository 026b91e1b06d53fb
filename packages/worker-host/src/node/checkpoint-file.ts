import { type FileHandle, open, readFile, rename } from "node:fs/promises";
import { type EventRecord, recordOf } from "@keyhole/kernel";
import { hashOf } from "@keyhole/kernel/audit";
import type { EventSpan } from "./scan-log.ts";

/** A checkpoint of the kernel, and where in the log file its event is. */
export interface CheckpointAt {
  readonly span: EventSpan;
  readonly text: string;
}

/** Replaces the file `PATH.checkpoint` beside a log. A present file is complete. */
export async function writeCheckpointFile(path: string, { span, text }: CheckpointAt): Promise<void> {
  const file = await open(`${fileOf(path)}.new`, "w", 0o600);
  try {
    await file.writeFile(`${JSON.stringify([span.seq, span.start, span.end])}\n${text}`);
    await file.datasync();
  } finally {
    await file.close();
  }
  await rename(`${fileOf(path)}.new`, fileOf(path));
}

/** The checkpoint beside a log. */
export interface FoundCheckpoint {
  /** `undefined` where there is none, or none of this log: the event must be whole, and in its place. */
  readonly known?: CheckpointAt & { readonly record: EventRecord };
  /** The event of a checkpoint at which the log ends too early: the log lost events. */
  readonly lostSeq?: number;
}

export async function readCheckpointFile(path: string, log: FileHandle): Promise<FoundCheckpoint> {
  const content = await readFile(fileOf(path), "utf8").catch(() => "");
  const lineEnd = content.indexOf("\n");
  const span = lineEnd < 0 ? undefined : spanOf(content.slice(0, lineEnd));
  if (!span) return {};
  if (span.end > (await log.stat()).size) return { lostSeq: span.seq };
  const record = await recordAt(log, span);
  return record ? { known: { span, record, text: content.slice(lineEnd + 1) } } : {};
}

const fileOf = (path: string): string => `${path}.checkpoint`;

function spanOf(text: string): EventSpan | undefined {
  try {
    const numbers: unknown = JSON.parse(text);
    const [seq, start, end, ...more] = Array.isArray(numbers) ? (numbers as readonly unknown[]) : [];
    return isPosition(seq) && isPosition(start) && isPosition(end) && more.length === 0
      ? { seq, start, end }
      : undefined;
  } catch {
    return undefined;
  }
}

const isPosition = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

async function recordAt(log: FileHandle, { seq, start, end }: EventSpan): Promise<EventRecord | undefined> {
  if (start >= end) return undefined;
  const bytes = Buffer.alloc(end - start);
  await log.read(bytes, 0, bytes.length, start);
  const line = bytes.toString("utf8");
  const record = line.endsWith("\n") ? recordOf(line.slice(0, -1)) : undefined;
  return record?.seq === seq && hashOf(record.hash)?.text(record.body) === record.hash ? record : undefined;
}
