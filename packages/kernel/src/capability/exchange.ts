import type { Hash } from "../normalize/hash.ts";
import type { CapabilityReply, CapabilityRequest } from "./broker.ts";
import type { CapabilityKind } from "./capability.ts";

/** What the journal keeps of one request. */
export interface Use {
  readonly index: number;
  readonly kind: CapabilityKind;
  readonly operation: string;
  /** What was touched: a URL without query and credentials, or a path. */
  readonly target: string;
  readonly outcome: "ok" | "refused" | "failed";
  readonly requestHash: string;
  readonly responseHash: string;
}

/** What the log says of a request. */
export function hashRequest({ body, ...rest }: CapabilityRequest, hash: Hash): string {
  return hash.jsonOrFault({ ...rest, body: body ? hash.bytes(body) : null });
}

/** What the log says of an answer. A broker's value is data by contract; a header of it can still hold a lone surrogate. */
export function hashReply(reply: CapabilityReply, hash: Hash): string {
  if (!reply.ok) return hash.jsonOrFault({ ok: false, error: { ...reply.error } });
  return hash.jsonOrFault({ ok: true, value: reply.value, body: reply.body ? hash.bytes(reply.body) : null });
}
