import { type CallHead, isOpen } from "../session/call-head.ts";

/** Which calls the log shows. */
export const filters = {
  all: { text: "All", has: () => true },
  open: { text: "Running", has: ({ state }) => isOpen(state) },
  asks: { text: "Waiting", has: ({ state }) => state === "asks" },
  refused: { text: "Refused", has: ({ state }) => state === "refused" },
  failed: { text: "Failed", has: ({ state }) => state === "failed" || state === "broken" || state === "left" },
  completed: { text: "Completed", has: ({ state }) => state === "completed" },
  crossed: { text: "Crossed the wall", has: ({ crossings }) => crossings > 0 },
} as const satisfies Record<string, { readonly text: string; readonly has: (head: CallHead) => boolean }>;

export type Filter = keyof typeof filters;

export function filtered(heads: readonly CallHead[], filter: Filter, text: string): readonly CallHead[] {
  const wanted = text.trim().toLowerCase();
  return heads.filter((head) => filters[filter].has(head) && (wanted === "" || hasText(head, wanted)));
}

function hasText(head: CallHead, wanted: string): boolean {
  const { id, tool, what, state, code, callId, hash, address } = head;
  return [tool, what, state, code, id, callId, hash, address].some((each) => each?.toLowerCase().includes(wanted));
}

export interface Sums {
  readonly ownMs: number;
  readonly waitedMs: number;
  readonly bytes: number;
  readonly events: number;
}

export function sumsOf(heads: readonly CallHead[]): Sums {
  const sum = { ownMs: 0, waitedMs: 0, bytes: 0, events: 0 };
  for (const { ownMs, waitedMs, bytes, events } of heads) {
    sum.ownMs += ownMs;
    sum.waitedMs += waitedMs;
    sum.bytes += bytes;
    sum.events += events;
  }
  return sum;
}
