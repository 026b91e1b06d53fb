/** The view cuts a line longer than this, with a note: no browser lays out megabytes in one line. */
export const mostInLine = 2_000;

/** Where each line of a text starts. The lines themselves are cut out when they are drawn. */
export function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

export interface Line {
  readonly text: string;
  /** Characters that are not shown. */
  readonly cut: number;
}

export function lineOf(text: string, starts: readonly number[], index: number): Line {
  const start = starts[index] ?? text.length;
  const next = starts[index + 1];
  const end = next === undefined ? text.length : next - 1;
  const shown = Math.min(end, start + mostInLine);
  return { text: text.slice(start, shown), cut: end - shown };
}
