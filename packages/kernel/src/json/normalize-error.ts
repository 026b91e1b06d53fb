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

/** Where a refusal was. Both grow while it passes the containers on its way up: a value without fault does not pay for its paths. */
export interface WayUp {
  readonly path: (string | number)[];
  readonly containers: object[];
}

/** `place` is `undefined` where the container itself was refused. */
export function passUp(
  error: unknown,
  { path, containers }: WayUp,
  container: object,
  place: string | number | undefined,
): never {
  if (place !== undefined) {
    path.unshift(place);
    containers.unshift(container);
  }
  throw error;
}

/** A cycle is met again until the depth, or another limit, is at its end. */
export function refusalAt({ path, containers }: WayUp, reason: NormalizeReason): NormalizeError {
  const again = containers.findIndex((container, i) => containers.indexOf(container) < i);
  return again > 0 ? normalizeError("cycle", path.slice(0, again)) : normalizeError(reason, path);
}
