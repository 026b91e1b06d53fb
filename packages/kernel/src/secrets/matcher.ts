import { foldedAt, type Found, minLength, type Pattern } from "./found.ts";
import type { EncodedForm } from "./encoded-form.ts";
import { eachEncodedForm } from "./encoded-forms.ts";

/** A part of an answer in which a value stands. */
export interface Match {
  readonly from: number;
  readonly to: number;
  readonly value: string;
}

interface Candidate extends Pattern {
  readonly value: string;
}

/** Pairs of folded bytes have so many numbers, not all different: a collision costs a comparison. */
const pairs = 8_192;
const pairAt = (bytes: Uint8Array, at: number): number => (foldedAt(bytes, at - 1) << 5) ^ foldedAt(bytes, at);

/**
 * Searches for many values at once, with every pattern of each (Wu and Manber). A window has the
 * length of the shortest pattern, and its last two bytes tell how far it can move. So the time
 * grows with the text, and hardly with the number of values.
 */
export class Matcher {
  readonly found: readonly Found[];
  /** No spelling of any value is longer, in bytes. */
  readonly maxLength: number;
  readonly #shifts = new Uint8Array(pairs).fill(minLength - 1);
  readonly #candidates = new Map<number, Candidate[]>();

  constructor(found: readonly Found[]) {
    this.found = found;
    this.maxLength = Math.max(0, ...found.map(({ maxLength }) => maxLength));
    for (const { value, patterns } of found) for (const pattern of patterns) this.#add({ ...pattern, value });
  }

  #add(candidate: Candidate): void {
    const { bytes } = candidate;
    for (let at = 1; at < minLength; at++) {
      const pair = pairAt(bytes, at);
      this.#shifts[pair] = Math.min(this.#shifts[pair] ?? 0, minLength - 1 - at);
    }
    const last = pairAt(bytes, minLength - 1);
    const others = this.#candidates.get(last);
    if (others) others.push(candidate);
    else this.#candidates.set(last, [candidate]);
  }

  /** In order, and apart from each other. */
  matchesIn(bytes: Uint8Array): readonly Match[] {
    const matches: Match[] = [];
    if (this.found.length > 0) eachEncodedForm(bytes, (view) => this.#search(view, matches));
    const merged: Match[] = [];
    for (const match of matches.toSorted((a, b) => a.from - b.from || b.to - a.to)) {
      const last = merged.at(-1);
      if (last && match.from < last.to) merged[merged.length - 1] = { ...last, to: Math.max(last.to, match.to) };
      else merged.push(match);
    }
    return merged;
  }

  #search(view: EncodedForm, matches: Match[]): void {
    const { bytes } = view;
    const shifts = this.#shifts;
    for (let at = minLength - 1; at < bytes.length;) {
      const pair = pairAt(bytes, at);
      const shift = shifts[pair] ?? 0;
      at += shift;
      if (shift > 0) continue;
      const start = at - minLength + 1;
      at++;
      for (const candidate of this.#candidates.get(pair) ?? []) {
        if (!standsAt(bytes, start, candidate.bytes)) continue;
        const first = Math.max(0, start - candidate.before);
        const end = Math.min(bytes.length, start + candidate.bytes.length + candidate.behind);
        const { value } = candidate;
        const match: Match = { from: view.startOf(first), to: view.endOf(end - 1), value };
        const last = matches.at(-1);
        // The matcher finds a repetitive value at every byte: matches that overlap are one.
        if (last?.value === value && match.from >= last.from && match.from < last.to)
          matches[matches.length - 1] = { ...last, to: Math.max(last.to, match.to) };
        else matches.push(match);
      }
    }
  }
}

function standsAt(bytes: Uint8Array, start: number, pattern: Uint8Array): boolean {
  if (start + pattern.length > bytes.length) return false;
  for (let at = 0; at < pattern.length; at++) if (foldedAt(bytes, start + at) !== pattern[at]) return false;
  return true;
}
