/**
 * Unicode normalization in time that grows with the text. Engines sort the marks on one letter by insertion: of half a million that stand in the wrong order
 * they take minutes, in which nothing else runs. Here long rows of marks are put in their order first; of what is in order engines are fast.
 */

/** UAX #15 knows no text with more marks on a letter than 30 that means anything. The two from halfwidth kana become marks in compatibility forms. */
const manyMarks = /[\p{M}\uff9e\uff9f]{31,}/gu;

/** `text.normalize(form)`, exactly. */
export function toForm(form: "NFC" | "NFD" | "NFKC", text: string): string {
  return text.replace(manyMarks, (marks) => inOrder(marks, form === "NFKC" ? "NFKD" : "NFD")).normalize(form);
}

/** Marks as their parts, those that no other one divides sorted by combining class; of one class in the order in which they came. */
function inOrder(marks: string, form: "NFD" | "NFKD"): string {
  const parts = new Map(Array.from(new Set(marks), (mark) => [mark, Array.from(mark.normalize(form))] as const));
  const ranks = ranksOf(new Set([...parts.values()].flat()));
  let ordered = "";
  let row: string[] = [];
  const end = (): void => {
    const classes = Map.groupBy(row, (mark) => ranks.get(mark) ?? 0);
    for (const [, own] of [...classes].toSorted(([a], [b]) => a - b)) ordered += own.join("");
    row = [];
  };
  for (const mark of marks) {
    for (const part of parts.get(mark) ?? []) {
      if (ranks.has(part)) row.push(part);
      else {
        end();
        ordered += part;
      }
    }
  }
  end();
  return ordered;
}

/** The one mark of the highest combining class. */
const last = "\u0345";

/** Whether the engine puts one mark behind the other. */
function isBehind(one: string, other: string): boolean {
  return one !== other && `a${one}${other}`.normalize("NFD") === `a${other}${one}`;
}

/** Equal numbers for one combining class; none for a mark that keeps its place. The engine knows the classes, and says them by what it sorts. */
function ranksOf(marks: ReadonlySet<string>): ReadonlyMap<string, number> {
  const movable = [...marks].filter((mark) => mark === last || isBehind(last, mark));
  const sorted = movable.toSorted((a, b) => (isBehind(a, b) ? 1 : isBehind(b, a) ? -1 : 0));
  let rank = 0;
  let before: string | undefined;
  return new Map(
    sorted.map((mark) => {
      if (before !== undefined && isBehind(mark, before)) rank++;
      before = mark;
      return [mark, rank];
    }),
  );
}
