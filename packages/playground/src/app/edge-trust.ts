import type { CallHead } from "../session/call-head.ts";

/** The results of the checks of one edge's answers, as far as this browser keeps them. */
export interface EdgeTrust {
  /** Every hash of the answer matched. */
  readonly matched: number;
  /** The answer contradicted itself. */
  readonly broken: number;
  /** A part of it has no check. */
  readonly unchecked: number;
}

export function trustOf(heads: readonly CallHead[], address: string): EdgeTrust {
  const verdicts = heads.filter((head) => head.address === address).map(({ verdict }) => verdict);
  const count = (verdict: string): number => verdicts.filter((each) => each === verdict).length;
  return { matched: count("unvouched"), broken: count("broken"), unchecked: count("inconclusive") };
}

/** One broken answer outweighs all others. */
export function trustState({ matched, broken, unchecked }: EdgeTrust): "broken" | "unchecked" | "matched" | "none" {
  if (broken > 0) return "broken";
  if (unchecked > 0) return "unchecked";
  return matched > 0 ? "matched" : "none";
}

export function trustText(trust: EdgeTrust): string {
  const { matched, broken, unchecked } = trust;
  const all = matched + broken + unchecked;
  if (all === 0) return "No answer yet";
  const answers = all === 1 ? "answer" : "answers";
  if (broken > 0) return `${broken} of ${all} ${answers} broken`;
  if (unchecked > 0) return `${unchecked} of ${all} ${answers} not verified`;
  return `${all} ${answers}, all match`;
}
