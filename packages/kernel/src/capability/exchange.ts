import { hashBytes, hashJsonOrFault } from "../normalize/hash.ts";
import type { CapabilityReply, CapabilityRequest } from "./broker.ts";

/** What the log says of a request. */
export function hashRequest({ body, ...rest }: CapabilityRequest): string {
  return hashJsonOrFault({ ...rest, body: body ? hashBytes(body) : null });
}

/** What the log says of an answer. A broker's value is data by contract; a header of it can still hold a lone surrogate. */
export function hashReply(reply: CapabilityReply): string {
  if (!reply.ok) return hashJsonOrFault({ ok: false, error: { ...reply.error } });
  return hashJsonOrFault({ ok: true, value: reply.value, body: reply.body ? hashBytes(reply.body) : null });
}
