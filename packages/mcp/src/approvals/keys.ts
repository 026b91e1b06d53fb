import { encodeBase64Url, hashText } from "@keyhole/kernel";

/** The key of one approver, as the pages know it. */
export interface ApprovalKey {
  /** On record as the approver. */
  readonly approver: string;
  /** `digest` of {@link newApprovalKey}. The key itself is nowhere but with its owner. */
  readonly digest: string;
}

const KEY_BYTES = 20;

/**
 * A new key for an approver. Show `key` to that person once, and keep `digest`. It is random enough that no guess of it can be right, so wrong keys need no limit.
 *
 * @example
 * const { key, digest } = newApprovalKey();
 */
export function newApprovalKey(): { readonly key: string; readonly digest: string } {
  const key = encodeBase64Url(crypto.getRandomValues(new Uint8Array(KEY_BYTES)));
  return { key, digest: digestOf(key) };
}

/** By digest: a lookup by the key itself would tell by its time how much of a guess is right. */
export function digestOf(key: string): string {
  return hashText(key.trim().toWellFormed());
}
