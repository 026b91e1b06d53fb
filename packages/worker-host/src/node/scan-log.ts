import type { FileHandle } from "node:fs/promises";
import { type EventRecord, recordOf } from "@keyhole/kernel";
import { hashOf, LINE_BYTES } from "@keyhole/kernel/audit";

/** Where a record is in the file. */
export interface Place {
  readonly seq: number;
  readonly start: number;
  /** Behind its line end. */
  readonly end: number;
}

/** What the bytes of a log file are. */
export interface ScannedLog {
  /** Whole records, in the order of the file. */
  readonly places: Place[];
  readonly last: EventRecord | undefined;
  /** Where the last whole record ends. */
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
  /** `undefined` for what cannot be a record: too long, no UTF-8, or without its line end. */
  readonly text: string | undefined;
}

/**
 * Reads a log once and checks each record against its own digest and the one before. What no record follows is the tail that a crash tore; what a
 * record follows is damage.
 */
export async function scanLog(file: FileHandle): Promise<ScannedLog> {
  const places: Place[] = [];
  let last: EventRecord | undefined;
  let end = 0;
  let size = 0;
  let damage: string | null = null;
  let broken: number | undefined;
  for await (const line of linesOf(file)) {
    size = line.end;
    const record = line.text === undefined ? undefined : recordOf(line.text);
    if (!record || hashOf(record.hash)?.text(record.body) !== record.hash) {
      broken ??= line.start;
      continue;
    }
    if (broken !== undefined) damage ??= `The log was damaged at byte ${broken}, before its end.`;
    else damage ??= faultBetween(last, record);
    places.push({ seq: record.seq, start: line.start, end: line.end });
    last = record;
    end = line.end;
  }
  return { places, last, end, size, damage };
}

function faultBetween(before: EventRecord | undefined, { seq, body, hash }: EventRecord): string | null {
  if (before && seq !== before.seq + 1) return `Event ${before.seq + 1} of the log is missing.`;
  const prev = before?.hash ?? (seq === 0 ? hashOf(hash)?.zero : undefined);
  if (prev !== undefined && !body.includes(`,"prev":"${prev}","seq":${seq},`))
    return `Event ${seq} of the log does not follow the one before.`;
  return null;
}

async function* linesOf(file: FileHandle): AsyncGenerator<Line, void, undefined> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  let rest: Buffer[] = [];
  let restBytes = 0;
  let start = 0;
  let at = 0;
  const take = (terminated: boolean): Line => {
    const bytes = Buffer.concat(rest);
    const line = { start, end: start + restBytes + (terminated ? 1 : 0) };
    const usable = terminated && restBytes <= LINE_BYTES;
    [rest, restBytes, start] = [[], 0, line.end];
    try {
      return { ...line, text: usable ? decoder.decode(bytes) : undefined };
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
    let from = 0;
    for (let to = chunk.indexOf(NEWLINE); to !== -1 && to < bytesRead; to = chunk.indexOf(NEWLINE, from)) {
      add(chunk.subarray(from, to));
      yield take(true);
      from = to + 1;
    }
    if (from < bytesRead) add(Buffer.from(chunk.subarray(from, bytesRead)));
  }
  if (restBytes > 0) yield take(false);
}
