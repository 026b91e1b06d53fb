import type { CallRecord, Parent } from "./record.ts";

/** Calls around this one: 0 for a call from outside. */
export function depthOf({ parent }: CallRecord): number {
  let depth = 0;
  for (let each = parent; each; each = each.call.parent) depth++;
  return depth;
}

/** The call from outside that led to this one. */
export function outermostOf(call: CallRecord): CallRecord {
  let each = call;
  while (each.parent) each = each.parent.call;
  return each;
}

/** Adds labels to a call and to all its parent calls. */
export function learn(call: CallRecord, labels: readonly string[]): void {
  for (let each: CallRecord | undefined = call; each; each = each.parent?.call) each.origin.learn(labels);
}

/** Whether the call, or the one from outside that led to it, named no session, and so has one for itself. */
export function ownsSession(call: CallRecord): boolean {
  return outermostOf(call).callId === call.sessionId;
}

/** How many of the calls that wait for this one run the same tool. */
export function countAround({ parent }: CallRecord, isSame: (ancestor: Parent) => boolean): number {
  let count = 0;
  for (let each = parent; each; each = each.call.parent) if (isSame(each)) count++;
  return count;
}

export function callsAround({ parent }: CallRecord): readonly string[] {
  const callIds: string[] = [];
  for (let each = parent; each; each = each.call.parent) callIds.push(each.call.callId);
  return callIds;
}
