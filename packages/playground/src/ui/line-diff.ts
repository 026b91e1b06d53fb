/** One line of a difference. */
export interface DiffLine {
  readonly kind: "same" | "added" | "removed";
  readonly text: string;
}

/** Of lines between the first and the last change; beyond, all of them count as replaced. */
const mostCompared = 1_500;

/** How a text became another, line by line. */
export function lineDiff(before: string, after: string): readonly DiffLine[] {
  const [a, b] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const [oldPart, newPart] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  return [
    ...lines("same", a.slice(0, start)),
    ...changedLines(oldPart, newPart),
    ...lines("same", end === 0 ? [] : a.slice(-end)),
  ];
}

/** Changed lines with a few around them; `undefined` stands for omitted lines. */
export function withContext(diff: readonly DiffLine[], around: number = 2): readonly (DiffLine | undefined)[] {
  const near = diff.map((_, at) =>
    diff.slice(Math.max(0, at - around), at + around + 1).some(({ kind }) => kind !== "same"),
  );
  return diff.flatMap((line, at) =>
    near[at] ? [line] : near[at - 1] || (at === 0 && diff.length > 1) ? [undefined] : [],
  );
}

function changedLines(a: readonly string[], b: readonly string[]): readonly DiffLine[] {
  if (a.length > mostCompared || b.length > mostCompared) return [...lines("removed", a), ...lines("added", b)];
  // Lengths of the longest common part of what follows each pair of places.
  const width = b.length + 1;
  const common = new Uint16Array((a.length + 1) * width);
  const at = (i: number, j: number): number => common[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      common[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const diff: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const [mine = "", other = ""] = [a[i], b[j]];
    if (i < a.length && j < b.length && mine === other) {
      diff.push({ kind: "same", text: mine });
      i++;
      j++;
    } else if (i < a.length && (j >= b.length || at(i + 1, j) >= at(i, j + 1))) {
      diff.push({ kind: "removed", text: mine });
      i++;
    } else {
      diff.push({ kind: "added", text: other });
      j++;
    }
  }
  return diff;
}

function lines(kind: DiffLine["kind"], texts: readonly string[]): readonly DiffLine[] {
  return texts.map((text) => ({ kind, text }));
}
