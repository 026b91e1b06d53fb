import { isJsonObject, parseOwnJson } from "../json/json.ts";
import { isSafeInteger } from "../support/guards.ts";
import type { AuditEvent } from "./event.ts";

/** An event as it is sealed and stored: its text is what was hashed, so nothing has to be written twice to be checked. */
export interface EventRecord {
  readonly seq: number;
  /** Canonical JSON (RFC 8785) of the event without `hash`. */
  readonly body: string;
  /** Digest of `body`. */
  readonly hash: string;
}

/** The record alone: what else the kernel knows of it stays with the kernel. */
export function copyOf({ seq, body, hash }: EventRecord): EventRecord {
  return { seq, body, hash };
}

/** The event itself. Only for records whose text is known to be ours; foreign ones go through `verifyAudit`. */
export function eventOf(record: EventRecord): AuditEvent {
  return parseEvent(lineOf(record));
}

/** For lines that are known to be ours. */
const parseEvent: (line: string) => AuditEvent = JSON.parse;

/** One line of a log file: the event as JSON, with `hash` as its last member. */
export function lineOf({ body, hash }: EventRecord): string {
  return `${body.slice(0, -1)},"hash":"${hash}"}`;
}

const suffixPattern = /,"hash":"([a-z0-9]+:[0-9a-f]{64})"\}$/;

/** The record of a line that {@link lineOf} wrote; `undefined` for any other. Says nothing about whether the digest is right. */
export function recordOf(line: string): EventRecord | undefined {
  const [suffix, hash] = suffixPattern.exec(line) ?? [];
  if (suffix === undefined || hash === undefined) return undefined;
  const body = `${line.slice(0, -suffix.length)}}`;
  try {
    const event = parseOwnJson(body);
    const seq = isJsonObject(event) ? event["seq"] : undefined;
    return isSafeInteger(seq) ? { seq, body, hash } : undefined;
  } catch {
    return undefined;
  }
}
