/** The result of a check of evidence. */
export type EvidenceVerdict =
  /** The evidence is complete, and a key that you gave or pinned vouches for all of it. */
  | "verified"
  /** The evidence was changed, cut or rewritten; or you gave keys, and none of them signed it. */
  | "broken"
  /** The check was not possible: an unreadable file, a line beyond the bounds, a log without an event, an unusable key. */
  | "inconclusive"
  /** No part of the evidence is wrong, and the author of a part is unknown. */
  | "unvouched";

declare const verified: unique symbol;

/** A key that the verifier trusts signed it. Only {@link TrustedKeys} make one. */
export interface VouchedByKey {
  readonly kind: "key";
  /** Thumbprint (RFC 7638), computed from the trusted key: never what the evidence says. */
  readonly kid: string;
  readonly [verified]: true;
}

export interface VouchedByNobody {
  readonly kind: "nobody";
  /** A sentence. */
  readonly reason: string;
}

export type VouchedBy = VouchedByKey | VouchedByNobody;

/** The voucher for evidence as a whole: nobody, where nobody vouches for a part of it. */
export function leastOf(first: VouchedBy, ...others: readonly VouchedBy[]): VouchedBy {
  return [first, ...others].find(({ kind }) => kind === "nobody") ?? first;
}

/** The words for a verdict, the same wherever a person reads it. */
export const verdictTexts: Readonly<Record<EvidenceVerdict, string>> = {
  verified: "Verified",
  broken: "Broken",
  inconclusive: "Could not tell",
  unvouched: "Intact, but unvouched",
};

/** A verdict on a proof, a log or a checkpoint, as far as words for it are needed. */
export type Judged =
  | { readonly verdict: "verified"; readonly vouchedBy: VouchedByKey }
  | { readonly verdict: "unvouched"; readonly vouchedBy: VouchedByNobody }
  | { readonly verdict: "broken" | "inconclusive"; readonly reason: string };

/** Why it is the verdict: a sentence, for people. */
export function verdictReason(judged: Judged): string {
  if (judged.verdict === "verified") return `Key ${judged.vouchedBy.kid}, which you trust, signed it.`;
  return judged.verdict === "unvouched" ? judged.vouchedBy.reason : judged.reason;
}

/** The verdict and its reason in one line. */
export function verdictLine(judged: Judged): string {
  return `${verdictTexts[judged.verdict]}: ${afterColon(verdictReason(judged))}`;
}

/** A sentence as it stands behind a colon. */
export function afterColon(sentence: string): string {
  return /^[A-Z](?:[a-z]| )/.test(sentence) ? sentence.charAt(0).toLowerCase() + sentence.slice(1) : sentence;
}
