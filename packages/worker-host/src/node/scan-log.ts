import type { FileHandle } from "node:fs/promises";
import { type EventRecord, recordOf } from "@keyhole/kernel";
import { chainFault, hashOf, LINE_BYTES } from "@keyhole/kernel/audit";

/** Where a record is in the file. */
export interface EventSpan {
  readonly seq: number;
  readonly start: number;
  /** Behind its line end. */
  readonly end: number;
}

/** The parts of a log file. */
export interface ScannedLog {
  /** Whole records, in the order of the file. */
  readonly spans: EventSpan[];
  readonly last: EventRecord | undefined;
  /** Where the last line ends: a crash tore only bytes behind it. */
  readonly end: number;
  /** Of the file. */
  readonly size: number;
  readonly damage: string | null;
}

const CHUNK_BYTES = 262_144;
const NEWLINE = 10;

interface Line {
  readonly start: number;
  /** Behind the line end. */
  readonly end: number;
  /** Whether it has its line end. Only the last line can lack it. */
  readonly whole: boolean;
  /** `undefined` for bytes that cannot be a record: too long, or no UTF-8. */
  readonly text: string | undefined;
}

/** Of a log. Default: all of it. */
interface Part {
  /** Bytes; where a line begins. */
  readonly from?: number;
  readonly to?: number;
  /** The record of the line before. */
  readonly before?: EventRecord;
}

/**
 * Reads a log once and checks each record against its own digest and the one before. A crash tears a write at some byte, so it leaves a line without its end. A whole line that
 * is no record was changed, and is damage, at the end of the file too.
 */
export async function scanLog(file: FileHandle, { from = 0, to = Infinity, before }: Part = {}): Promise<ScannedLog> {
  const spans: EventSpan[] = [];
  let last = before;
  let end = from;
  let size = from;
  let damage: string | null = null;
  for await (const line of linesOf(file, from)) {
    if (line.start >= to) break;
    size = line.end;
    if (!line.whole && !hasChangedEnd(line.text)) break;
    end = line.end;
    const record = soundRecord(line.text);
    if (!record) {
      damage ??= `The log was damaged at byte ${line.start}: the line is not an event.`;
      continue;
    }
    damage ??= chainFault(last, record, hashOf(record.hash)?.zero) ?? null;
    spans.push({ seq: record.seq, start: line.start, end: line.end });
    last = record;
  }
  return { spans, last, end, size, damage };
}

/** An event with other bytes in place of its line end: a crash leaves a part of a line, and nothing behind it. */
function hasChangedEnd(text = ""): boolean {
  const end = text.lastIndexOf("}") + 1;
  return end < text.length && soundRecord(text.slice(0, end)) !== undefined;
}

function soundRecord(text = ""): EventRecord | undefined {
  const record = recordOf(text);
  return record && hashOf(record.hash)?.text(record.body) === record.hash ? record : undefined;
}

async function* linesOf(file: FileHandle, from: number): AsyncGenerator<Line, void, undefined> {
  const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  // A crash can tear a character.
  const lenient = new TextDecoder("utf-8", { ignoreBOM: true });
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  let rest: Buffer[] = [];
  let restBytes = 0;
  let start = from;
  let at = from;
  const take = (whole: boolean): Line => {
    const bytes = Buffer.concat(rest);
    const line = { start, end: start + restBytes + (whole ? 1 : 0), whole };
    const usable = restBytes <= LINE_BYTES;
    [rest, restBytes, start] = [[], 0, line.end];
    try {
      return { ...line, text: usable ? (whole ? strict : lenient).decode(bytes) : undefined };
    } catch {
      return { ...line, text: undefined };
    }
  };
  const add = (part: Buffer): void => {
    restBytes += part.length;
    if (restBytes <= LINE_BYTES) rest.push(part);
    else rest = []; // Too long: only its length still matters.
  };
  for (;;) {
    const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, at);
    if (bytesRead === 0) break;
    at += bytesRead;
    let done = 0;
    for (let to = chunk.indexOf(NEWLINE); to !== -1 && to < bytesRead; to = chunk.indexOf(NEWLINE, done)) {
      add(chunk.subarray(done, to));
      yield take(true);
      done = to + 1;
    }
    if (done < bytesRead) add(Buffer.from(chunk.subarray(done, bytesRead)));
  }
  if (restBytes > 0) yield take(false);
}
