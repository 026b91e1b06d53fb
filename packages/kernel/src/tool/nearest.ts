/** UTF-16 units of a name and of a candidate that are compared. */
const mostUnits = 64;
/** Edits after which a name is another one. */
const mostEdits = 8;
/** Pairs of units that one search compares, over all candidates. A stranger chooses the name: past them the other candidates are not looked at. */
const mostPairs = 200_000;
/** Candidates that are asked whether they can be shown. */
const mostAsked = 20;

/**
 * The candidates closest to a mistyped name, best first, at most three; none that would be a guess.
 *
 * @param isShown Whether a candidate can be named to the reader. Default: each can.
 */
export function nearest(
  name: string,
  candidates: Iterable<string>,
  isShown: (candidate: string) => boolean = () => true,
): readonly string[] {
  const wanted = name.slice(0, mostUnits).toLowerCase();
  const reach = Math.max(2, Math.min(mostEdits, Math.floor(wanted.length / 3)));
  const work: Work = { pairsLeft: mostPairs };
  const close: { readonly candidate: string; readonly distance: number }[] = [];
  for (const candidate of candidates) {
    const compared = candidate.slice(0, mostUnits).toLowerCase();
    const distance = distanceWithin(reach, wanted, compared, work);
    if (distance !== undefined) close.push({ candidate, distance });
    else if (wanted.length >= 3 && compared.includes(wanted))
      close.push({ candidate, distance: compared.length - wanted.length });
  }
  const best = close.toSorted((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1));
  const shown: string[] = [];
  for (const { candidate } of best.slice(0, mostAsked))
    if (shown.length < 3 && isShown(candidate)) shown.push(candidate);
  return shown;
}

/** An unknown name as a message shows it, and the hint at the one that was meant. */
export function unknownName(name: string, known: readonly string[]): { readonly name: string; readonly hint: string } {
  const [close] = nearest(name, known);
  const hint =
    close === undefined
      ? `Leave it out; known are ${known.map((each) => `\`${each}\``).join(", ")}.`
      : `Did you mean \`${close}\`?`;
  return { name: name.slice(0, 64).toWellFormed(), hint };
}

interface Work {
  pairsLeft: number;
}

/** Levenshtein distance, where it is at most `reach` and the work is not used up. One row of memory, of which only what is within reach of the diagonal is looked at. */
function distanceWithin(reach: number, a: string, b: string, work: Work): number | undefined {
  if (Math.abs(a.length - b.length) > reach) return undefined;
  const far = reach + 1;
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const first = Math.max(1, i - reach);
    const last = Math.min(b.length, i + reach);
    work.pairsLeft -= last - first + 1;
    if (work.pairsLeft < 0) return undefined;
    const next: number[] = [];
    next[first - 1] = first === 1 ? i : far;
    let least = next[first - 1] ?? far;
    let distance = least;
    for (let j = first; j <= last; j++) {
      const substitution = (row[j - 1] ?? far) + (a[i - 1] === b[j - 1] ? 0 : 1);
      distance = Math.min(substitution, (row[j] ?? far) + 1, distance + 1);
      next[j] = distance;
      if (distance < least) least = distance;
    }
    if (least > reach) return undefined;
    row = next;
  }
  const distance = row[b.length] ?? far;
  return distance > reach ? undefined : distance;
}
