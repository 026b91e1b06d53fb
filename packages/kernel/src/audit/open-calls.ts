import { type AuditType, terminalTypes } from "./event.ts";
import type { EventScope } from "./scope.ts";

export const opening: ReadonlySet<string> = new Set(["call.invoked", "tool.resumed"] satisfies AuditType[]);
export const closing: ReadonlySet<string> = new Set([...terminalTypes, "tool.suspended"] satisfies AuditType[]);

export type OpenCall = readonly [callId: string, sessionId: string | null, traceparent: string | null];

/** Of calls alone: other events have no call. */
export function openCallsOf(scopes: Iterable<EventScope>): readonly OpenCall[] {
  return Array.from(scopes).flatMap(({ callId, sessionId, traceparent }) =>
    callId === null ? [] : [[callId, sessionId, traceparent] as const],
  );
}
