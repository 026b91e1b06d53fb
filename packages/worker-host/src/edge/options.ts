import type { CallOptions, JsonValue } from "@keyhole/kernel";
import { knownCallOptions } from "@keyhole/kernel/foreign";
import { EdgeFault } from "./fault.ts";

/** The options of a call that cross to an edge. */
export interface EdgeRequest {
  readonly body: { readonly input: JsonValue } & object;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * A call as an edge takes it. The edge refuses a `caller` that is not the subject of the token.
 *
 * @param pinned the version of a package that names the tool
 * @throws {EdgeFault} `EDGE_UNSUPPORTED` for an idempotency key that no header has
 */
export function requestOf(input: unknown, options: CallOptions, pinned?: string): EdgeRequest {
  const known = knownCallOptions(options, "A call of an edge");
  const { sessionId, correlationId, grants, bounds, waitMs, cache, raw, references } = known;
  const { idempotencyKey, traceparent, caller } = known;
  const sent = {
    version: pinned ?? known.version,
    caller,
    sessionId,
    correlationId,
    grants,
    bounds,
    waitMs,
    cache,
    raw,
    references,
  };
  return {
    // As JSON: the edge hashes the sent value.
    body: { ...present(sent), input: input as JsonValue },
    headers: {
      ...(idempotencyKey !== undefined && { "idempotency-key": quoted(idempotencyKey) }),
      ...(traceparent !== undefined && { traceparent }),
    },
  };
}

function present(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** A String of RFC 9651. */
function quoted(key: string): string {
  if (/^[\x20-\x7e]*$/.test(key)) return `"${key.replaceAll(/["\\]/g, "\\$&")}"`;
  throw new EdgeFault(
    "EDGE_UNSUPPORTED",
    "An idempotency key of an edge has ASCII characters alone.",
    "Choose another key.",
  );
}
