/** The candidates closest to a mistyped name, best first, at most three; none that would be a guess. */
export function nearest(name: string, candidates: Iterable<string>): readonly string[] {
  const wanted = name.slice(0, 64).toLowerCase();
  const reach = Math.max(2, Math.floor(wanted.length / 3));
  return [...candidates]
    .map((candidate) => ({ candidate, distance: editDistance(wanted, candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= reach || (wanted.length >= 3 && candidate.includes(wanted)))
    .toSorted((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1))
    .slice(0, 3)
    .map(({ candidate }) => candidate);
}

/** The first member of an object that has none of the known names, and the hint at the one that was meant. */
export function unknownName(
  given: object,
  known: readonly string[],
): { readonly name: string; readonly hint: string } | undefined {
  const name = Object.keys(given).find((each) => !known.includes(each));
  if (name === undefined) return undefined;
  const [close] = nearest(name, known);
  const hint =
    close === undefined
      ? `Leave it out; known are ${known.map((each) => `\`${each}\``).join(", ")}.`
      : `Did you mean \`${close}\`?`;
  return { name: name.slice(0, 64).toWellFormed(), hint };
}

/** Levenshtein distance with one row of memory. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substitution, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}
