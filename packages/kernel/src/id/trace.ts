import { randomHex } from "./uuid.ts";

const traceparentPattern = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})$/;

/**
 * The `traceparent` of a new span (W3C Trace Context, level 1): a child of the given one, or the root of a new, sampled trace where none,
 * or a malformed one, was given.
 */
export function childSpan(parent: string | undefined): string {
  const match = typeof parent === "string" ? traceparentPattern.exec(parent) : null;
  return `00-${match?.[1] ?? randomHex(16)}-${randomHex(8)}-${match?.[2] ?? "01"}`;
}
