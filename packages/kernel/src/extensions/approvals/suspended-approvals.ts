import { type AuditEvent, terminalTypes } from "../../audit/event.ts";
import type { AuditLog } from "../../audit/log.ts";

const PAGE_EVENTS = 1_000;

/** Whether a suspended call continues on an approval, or waits for it. Its snapshot has the approval, and the log alone says that there is one. */
export async function isSuspendedOn(approvalId: string, log: AuditLog): Promise<boolean> {
  await log.flush();
  const calls = new Set<string | null>();
  const suspended = new Set<string | null>();
  for (let from = 0; from < log.end.seq;) {
    const events = await log.read(from, PAGE_EVENTS);
    const last = events.at(-1);
    if (!last) break;
    from = last.seq + 1;
    for (const event of events) {
      const { type, callId } = event;
      if (type === "tool.suspended") suspended.add(callId);
      else if (type === "tool.resumed" || terminalTypes.includes(type)) suspended.delete(callId);
      else if (approvalIn(event) !== approvalId) continue;
      // Denied or revoked, it is over for all calls.
      else if (type === "approval.resolved" && event.payload.answer === "deny") calls.clear();
      else calls.add(callId);
    }
  }
  return [...calls].some((callId) => suspended.has(callId));
}

function approvalIn(event: AuditEvent): string | undefined {
  if (event.type === "approval.requested" || event.type === "approval.resolved") return event.payload.approvalId;
  return event.type === "policy.decided" ? event.payload.proof?.approval?.approvalId : undefined;
}
