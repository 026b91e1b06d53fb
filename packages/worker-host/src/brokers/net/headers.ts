import { headerNameOf } from "@keyhole/kernel";

/**
 * Headers that every tool may set: they describe the wanted answer, the body or the trace, or
 * identify the caller in the one standard way. No server reads another place or method from them. A
 * grant names further headers.
 */
export const ordinaryHeaders: ReadonlySet<string> = new Set(
  [
    "accept accept-language authorization cache-control content-encoding content-language content-type idempotency-key",
    "if-match if-modified-since if-none-match if-range if-unmodified-since last-event-id pragma range",
    "traceparent tracestate user-agent x-correlation-id x-request-id",
  ].flatMap((names) => names.split(" ")),
);

/**
 * Headers that follow a redirect to another origin: none of them identifies the caller or the call.
 */
const wandering: ReadonlySet<string> = new Set(
  "accept accept-language cache-control content-encoding content-language content-type pragma user-agent".split(" "),
);

export function staysOnRedirect(header: string): boolean {
  return wandering.has(header);
}

/** Whether a header asks for a part of an answer, or of what a server copies. `content-range` is about the request's own body. */
export function isRangeHeader(header: string): boolean {
  const name = headerNameOf(header);
  return /(?:^|-)range$/.test(name) && name !== "content-range";
}

/** Headers that describe a body, and go with it (Fetch, HTTP-redirect fetch). */
export function isBodyHeader(header: string): boolean {
  return /^content-(?:encoding|language|location|type)$/.test(headerNameOf(header));
}
