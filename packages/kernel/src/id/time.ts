let lastMs = Number.NaN;
let lastText = "";

/** RFC 3339, UTC, milliseconds. Printing a date costs more than most that a call does, and one call has many times within one millisecond. */
export function isoTime(nowMs: number): string {
  if (nowMs !== lastMs) {
    lastText = new Date(nowMs).toISOString();
    lastMs = nowMs;
  }
  return lastText;
}
