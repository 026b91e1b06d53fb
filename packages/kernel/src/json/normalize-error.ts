/** Why a value has no normal form. Stable: callers and logs match on it. */
export type NormalizeReason =
  | "accessor"
  | "bigint"
  | "breaks-contract"
  | "cycle"
  | "detached"
  | "function"
  | "lone-surrogate"
  | "normalizer-threw"
  | "normalizer-varies"
  | "not-a-stream"
  | "not-bytes"
  | "not-finite"
  | "not-plain"
  | "not-text"
  | "proto-key"
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

/**
 * `tokens` lead from the root to the offending value. A token can be a hostile key: the path is made well-formed, so that the
 * error itself can go into a canonical log.
 */
export function normalizeError(reason: NormalizeReason, tokens: readonly (string | number)[]): NormalizeError {
  const path = tokens
    .map((token) => "/" + `${token}`.replaceAll("~", "~0").replaceAll("/", "~1").toWellFormed())
    .join("");
  return { reason, path, message: `${reason} at "${path}"` };
}
