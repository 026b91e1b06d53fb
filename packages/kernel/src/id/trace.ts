import { randomHex } from "./uuid.ts";

const pattern = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;

/** Trace id, span id and flags of a `traceparent`; none of a malformed one, as if none was given. */
export function readTraceparent(text: unknown): readonly string[] {
  return (typeof text === "string" && pattern.exec(text)?.slice(1)) || [];
}

/**
 * The `traceparent` of a new span (W3C Trace Context, level 1): a child of the given one, or the root of a new, sampled trace where none,
 * or a malformed one, was given.
 */
export function childSpan(parent: string | undefined): string {
  const [traceId = randomHex(16), , flags = "01"] = readTraceparent(parent);
  return `00-${traceId}-${randomHex(8)}-${flags}`;
}
