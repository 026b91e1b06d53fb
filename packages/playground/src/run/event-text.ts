import type { AuditEvent, AuditPayloads } from "@keyhole/kernel";

function checkedText({ granted, missing }: AuditPayloads["capability.checked"]): string {
  if (missing.length > 0) return `missing ${missing.join(", ")}`;
  return granted.length > 0 ? granted.join(", ") : "none needed";
}

/** One event in a line. Parts of it are foreign. */
export function sentenceOf(event: AuditEvent): string {
  switch (event.type) {
    case "call.invoked":
      return event.payload.parentCallId === null ? `by ${event.payload.caller}` : event.payload.tool;
    case "capability.checked":
      return checkedText(event.payload);
    case "policy.decided":
      return `${event.payload.decision}, by ${event.payload.reasonCode}`;
    case "approval.requested":
      return event.payload.reason;
    case "approval.resolved":
      return [event.payload.answer, event.payload.reason].filter((part) => part !== "").join(": ");
    case "call.queued":
      return `number ${event.payload.position} in the queue`;
    case "tool.started":
      return `on ${event.payload.host}`;
    case "capability.used":
      return `${event.payload.operation} ${event.payload.target}${event.payload.outcome === "ok" ? "" : ` (${event.payload.outcome})`}`;
    case "body.read":
      return `${event.payload.bodyBytes} B of the body, ${event.payload.whole ? "all of it" : "not to its end"}`;
    case "data.kept":
      return `kept ${Object.keys(event.payload.commitments).join(", ")}`;
    case "tool.completed":
      return `${event.payload.outputBytes} B of output`;
    case "result.reused":
      return event.payload.by === "cache" ? "of an equal call" : "of the first call under the key";
    case "tool.suspended":
    case "tool.resumed":
      return event.payload.snapshotId;
    case "tool.retried":
      return `run ${event.payload.attempt}, after ${event.payload.code}`;
    case "tool.failed":
    case "tool.blocked":
      return event.payload.code;
    case "grant.revoked":
    case "grant.restored":
      return event.payload.reason;
    case "mode.changed":
      return event.payload.mode;
    case "tool.registered":
    case "tool.unregistered":
    case "health.asked":
    case "purity.asked":
      return event.payload.tool;
    case "purity.answered":
      return event.payload.found;
    case "health.answered":
      return event.payload.state;
    case "tool.quarantined":
      return `for ${Math.ceil(event.payload.restMs / 1_000)} s, after ${event.payload.failures} failures`;
    case "log.recovered":
      return `${event.payload.cutBytes} B of a torn write were cut away`;
    case "call.keyed":
    case "policy.changed":
    case "tool.lost":
      return "";
  }
}
