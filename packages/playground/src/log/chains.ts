import type { AuditEvent } from "@keyhole/kernel";

/**
 * The events of calls as pieces of logs, each in the order of its chain, the earliest piece first. Calls that overlap are one piece. A new one begins
 * with another kernel, such as after a reload, and behind events of other calls.
 */
export function chainsOf(calls: readonly (readonly AuditEvent[])[]): readonly (readonly AuditEvent[])[] {
  const links = new Map<string, { readonly event: AuditEvent; readonly follows: string }>();
  for (const events of calls)
    for (const [index, event] of events.entries()) {
      const before = events[index - 1];
      // Within a call the next number follows. Its digest decides nothing here: a break stays a break.
      const follows = before?.seq === event.seq - 1 ? before.hash : event.prev;
      if (!links.has(event.hash)) links.set(event.hash, { event, follows });
    }
  const chains: AuditEvent[][] = [];
  const byEnd = new Map<string, AuditEvent[]>();
  for (const { event, follows } of [...links.values()].sort((a, b) => a.event.seq - b.event.seq)) {
    const open = byEnd.get(follows);
    const chain = open?.at(-1)?.seq === event.seq - 1 ? open : undefined;
    if (chain) {
      byEnd.delete(follows);
      chain.push(event);
      byEnd.set(event.hash, chain);
    } else {
      const begun = [event];
      chains.push(begun);
      byEnd.set(event.hash, begun);
    }
  }
  return chains.sort(([a], [b]) => (a!.time < b!.time ? -1 : 1));
}
