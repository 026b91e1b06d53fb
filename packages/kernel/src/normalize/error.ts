/** Why a value has no normal form. Stable: callers and logs match on it. */
export type NormalizeReason =
  | "accessor"
  | "bigint"
  | "cycle"
  | "function"
  | "lone-surrogate"
  | "not-bytes"
  | "not-finite"
  | "not-plain"
  | "not-text"
  | "proto-key"
  | "sparse"
  | "symbol"
  | "syntax"
  | "too-deep"
  | "too-large"
  | "undefined"
  | "unreadable";

/** A refusal, as data. `path` is a JSON Pointer (RFC 6901) to the first offending value; `""` is the root. */
export interface NormalizeError {
  readonly reason: NormalizeReason;
  readonly path: string;
  readonly message: string;
}

/** Extends a JSON Pointer by one token (RFC 6901, section 3). */
export function pointer(path: string, token: string | number): string {
  return `${path}/${String(token).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/**
 * A path can carry a hostile key. It is made well-formed, so that the error itself can go into a canonical log;
 * the message shows no more than its start.
 */
export function normalizeError(reason: NormalizeReason, path: string): NormalizeError {
  const safe = path.toWellFormed();
  return { reason, path: safe, message: `${reason} at ${safe.slice(0, 200) || "the root"}` };
}
