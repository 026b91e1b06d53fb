import type { CallOptions, JsonValue } from "@keyhole/kernel";
import { EdgeFault } from "./fault.ts";

/** The options of a call that cross to an edge. */
export interface EdgeRequest {
  readonly body: { readonly input: JsonValue } & object;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * A call as an edge takes it. `caller` does not cross: the edge takes the subject of the token.
 *
 * @throws {EdgeFault} `EDGE_UNSUPPORTED` for a caller: the call would be the token's, not that
 * caller's
 */
export function requestOf(input: unknown, options: CallOptions): EdgeRequest {
  const { version, sessionId, correlationId, grants, bounds, waitMs, cache, raw, references } = options;
  const { idempotencyKey, traceparent, caller } = options;
  if (caller !== undefined)
    throw new EdgeFault(
      "EDGE_UNSUPPORTED",
      "A call of an edge has no option caller.",
      "The edge takes the subject of the token. Use one token for each caller.",
    );
  const sent = { version, sessionId, correlationId, grants, bounds, waitMs, cache, raw, references };
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
