import type { AuditEvent, AuditEventOf, CallResult } from "@keyhole/kernel";
import { timesOf } from "./evidence.ts";
import { isKnown } from "./known-event.ts";

/** How a call failed, as its last event says it. */
export function failureOf(event: AuditEvent, events: readonly AuditEvent[]): CallResult | undefined {
  if ((event.type !== "tool.failed" && event.type !== "tool.blocked") || !isKnown(event)) return undefined;
  const known = events.filter(({ callId }) => callId === event.callId).filter(isKnown);
  const invoked = known.find((each) => each.type === "call.invoked");
  const { code, errorHash: _, effects = [], ...used } = { networkRequests: 0, networkBytes: 0, ...event.payload };
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
    effects,
    error: { code, message, details: null, retryable: false, hint: "", operatorHint: "" },
    ...(decided?.payload.proof && { proof: decided.payload.proof }),
    meta: {
      ...timesOf(known),
      ...used,
      cached: known.some(({ type }) => type === "result.reused"),
      warnings: [],
      traceparent: event.traceparent ?? "",
    },
  };
}
