import { lineOf, textOf } from "./clean.ts";

export const priorities = ["emerg", "alert", "crit", "err", "warning", "notice", "info", "debug"] as const;
export type Priority = (typeof priorities)[number];

export interface LogEntry {
  /** RFC 3339 in UTC; `null` where the entry does not say it. */
  readonly time: string | null;
  readonly priority: Priority | null;
  readonly unit: string | null;
  readonly pid: number | null;
  readonly message: string;
}

/** UTF-16 units that are kept of one message. */
const messageLength = 2_000;

/** Fields of the journal that {@link journalEntries} reads. */
export const journalFields = "MESSAGE,PRIORITY,_SYSTEMD_UNIT,SYSLOG_IDENTIFIER,_PID,__REALTIME_TIMESTAMP";

/** Reads `journalctl -o json`: one object a line, each field a text, an array of bytes where it is no text, or `null` where it is too long. */
export function journalEntries(output: string): readonly LogEntry[] {
  return rowsOf(output).map((row) => {
    const microseconds = Number(fieldOf(row, "__REALTIME_TIMESTAMP") ?? NaN);
    return {
      time: timeOf(microseconds / 1_000),
      priority: priorityOf(fieldOf(row, "PRIORITY")),
      unit: shortOf(fieldOf(row, "_SYSTEMD_UNIT") ?? fieldOf(row, "SYSLOG_IDENTIFIER")),
      pid: wholeOf(fieldOf(row, "_PID")),
      message: lineOf(fieldOf(row, "MESSAGE") ?? "(longer than the journal shows)", messageLength),
    };
  });
}

const macPriorities: ReadonlyMap<string, Priority> = new Map([
  ["Fault", "crit"],
  ["Error", "err"],
  ["Default", "notice"],
  ["Info", "info"],
  ["Debug", "debug"],
]);

/** Reads `log show --style ndjson` of macOS. Its last line is a summary without a message. */
export function macEntries(output: string): readonly LogEntry[] {
  return rowsOf(output).flatMap((row) => {
    const message = fieldOf(row, "eventMessage");
    if (message === undefined) return [];
    const process = fieldOf(row, "processImagePath");
    return [
      {
        // `2026-11-23 19:00:00.123456+0000`
        time: timeOf(
          Date.parse(
            fieldOf(row, "timestamp")
              ?.replace(" ", "T")
              .replace(/(\d\d)$/, ":$1") ?? "",
          ),
        ),
        priority: macPriorities.get(fieldOf(row, "messageType") ?? "") ?? null,
        unit: shortOf(process?.slice(process.lastIndexOf("/") + 1)),
        pid: wholeOf(fieldOf(row, "processID")),
        message: lineOf(message, messageLength),
      },
    ];
  });
}

/** RFC 3339, or ISO 8601 with a space, at the beginning of a line. Other forms lack the year or the zone. */
const stamp = /^\[?(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d\d:?\d\d)/;

/**
 * The lines of a file. A line without a time of its own has none.
 *
 * @param isCut whether the text begins in the middle of a line
 */
export function fileEntries(text: string, isCut: boolean): readonly LogEntry[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.slice(isCut ? 1 : 0).map((line) => ({
    time: stampOf(line),
    priority: null,
    unit: null,
    pid: null,
    message: lineOf(line.endsWith("\r") ? line.slice(0, -1) : line, messageLength),
  }));
}

function stampOf(line: string): string | null {
  const [, date, time, fraction = "", zone = ""] = stamp.exec(line) ?? [];
  if (date === undefined) return null;
  const offset = zone.replace(/^([+-]\d\d)(\d\d)$/, "$1:$2");
  return timeOf(Date.parse(`${date}T${time}.${fraction.padEnd(3, "0").slice(0, 3)}${offset}`));
}

/** The entries that are not older than a moment. An entry without a time belongs to the entry before it, as the lines of a stack do. */
export function since(entries: readonly LogEntry[], fromMs: number): readonly LogEntry[] {
  let isNew = false;
  return entries.filter(({ time }) => {
    if (time !== null) isNew = Date.parse(time) >= fromMs;
    return isNew;
  });
}

/** The last entries that fit, oldest first. */
export function lastOf(
  entries: readonly LogEntry[],
  limit: number,
  characters: number,
): { readonly entries: readonly LogEntry[]; readonly isTruncated: boolean } {
  let left = characters;
  const newestFirst = entries.toReversed().slice(0, limit);
  const tooMany = newestFirst.findIndex(({ message }) => (left -= message.length + 100) < 0);
  const kept = tooMany < 0 ? newestFirst : newestFirst.slice(0, tooMany);
  return { entries: kept.toReversed(), isTruncated: kept.length < entries.length };
}

type Row = ReadonlyMap<string, unknown>;

/** A line that is no object is one that was cut, or nobody's: it is left out. */
function rowsOf(output: string): readonly Row[] {
  return output.split("\n").flatMap((line) => {
    try {
      const value: unknown = JSON.parse(line);
      return typeof value === "object" && value !== null ? [new Map(Object.entries(value))] : [];
    } catch {
      return [];
    }
  });
}

function fieldOf(row: Row, name: string): string | undefined {
  const value = row.get(name);
  if (typeof value === "string") return value;
  if (typeof value === "number") return String(value);
  // A field that occurs twice is a list of its values; one that is no text is a list of bytes.
  if (!Array.isArray(value)) return undefined;
  const items: readonly unknown[] = value;
  const bytes = items.filter((item) => typeof item === "number");
  if (bytes.length === items.length) return textOf(Uint8Array.from(bytes));
  return items.find((item) => typeof item === "string");
}

function shortOf(text: string | undefined): string | null {
  return text === undefined ? null : lineOf(text, 200);
}

function wholeOf(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : null;
}

function priorityOf(digit: string | undefined): Priority | null {
  return (digit !== undefined && /^[0-7]$/.test(digit) && priorities[Number(digit)]) || null;
}

function timeOf(ms: number): string | null {
  return Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : null;
}
