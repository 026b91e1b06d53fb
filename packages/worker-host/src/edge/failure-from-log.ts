import type { AuditEvent, AuditEventOf, CallResult } from "@keyhole/kernel";
import { isKnown } from "./known-event.ts";

/** How a call failed, as its last event says it. */
export function failureOf(event: AuditEvent, events: readonly AuditEvent[]): CallResult | undefined {
  if ((event.type !== "tool.failed" && event.type !== "tool.blocked") || !isKnown(event)) return undefined;
  const known = events.filter(isKnown);
  const invoked = known.find((each) => each.type === "call.invoked");
  const { code } = event.payload;
  // The proof of a refused request is the call's only where that refusal ended it.
  const isOfCall = ({ payload }: AuditEventOf<"policy.decided">): boolean =>
    payload.reasonCode !== "request-denied" || code === "CAPABILITY_DENIED";
  const decided = known.filter((each) => each.type === "policy.decided").findLast(isOfCall);
  // The log keeps the digest of the message, not the words.
  const message =
    code === "CANCELLED" ? "The call was cancelled." : `The call ended with ${code} during its cancellation.`;
  return {
    ok: false,
    tool: invoked?.payload.tool ?? "",
    callId: event.callId ?? "",
    effects: event.type === "tool.failed" ? event.payload.effects : [],
    error: { code, message, details: null, retryable: false, hint: "", operatorHint: "" },
    ...(decided?.payload.proof && { proof: decided.payload.proof }),
    meta: {
      durationMs: Date.parse(event.time) - Date.parse(invoked?.time ?? event.time),
      queuedMs: 0,
      cached: false,
      attempts: 1,
      networkRequests: known.filter((each) => each.type === "capability.used" && each.payload.kind.startsWith("net."))
        .length,
      networkBytes: 0,
      warnings: [],
      traceparent: event.traceparent ?? "",
    },
  };
}
