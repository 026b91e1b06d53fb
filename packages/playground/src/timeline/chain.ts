import type { AuditEvent } from "@keyhole/kernel";
import { hashOf } from "@keyhole/kernel/audit";

/** Two hashes that have to be equal. */
export interface Break {
  /** Place of the event in the list. */
  readonly index: number;
  readonly reason: string;
  readonly expected: string;
  readonly found: string;
}

/**
 * Where an event does not follow the one before, by the hashes that both name. The page recomputes no hash. Events of other calls may lie between two events: there a chain
 * can be neither whole nor broken.
 */
export function breaksOf(events: readonly AuditEvent[]): readonly Break[] {
  const breaks: Break[] = [];
  for (const [index, event] of events.entries()) {
    const before = events[index - 1];
    if (before === undefined || event.seq !== before.seq + 1 || event.prev === before.hash) continue;
    if (breaks.length >= mostBreaks) break;
    const reason = `Event ${event.seq} does not follow event ${before.seq}.`;
    breaks.push({ index, reason, expected: before.hash, found: event.prev });
  }
  return breaks;
}

/** @returns the break where the event's hash is not that of its content */
export function recompute(event: AuditEvent, index: number): Break | undefined {
  const { hash, ...body } = event;
  const computed = hashOf(hash)?.jsonOrFault({ ...body });
  if (computed === hash) return undefined;
  const expected = computed ?? "no known algorithm";
  return { index, reason: `Event ${event.seq} was changed.`, expected, found: hash };
}

/** A log with more is wholly broken: the page does not list them. */
const mostBreaks = 1_000;
/** Between two looks at the page: a frame has 16 ms. */
const sliceMs = 8;
/** Between two tellings: for each of them the page draws the count anew. */
export const tellMs = 100;
/** One list, so that what hangs on the breaks stays as it is. */
export const noBreaks: readonly Break[] = [];

/**
 * Recomputes every hash, in slices between which the page draws.
 *
 * @param tell takes how many are done, at most every {@link tellMs}, and at the end the breaks, at most 1,000
 */
export async function recomputeAll(
  events: readonly AuditEvent[],
  tell: (done: number, breaks: readonly Break[]) => void,
  signal: AbortSignal,
): Promise<void> {
  const breaks: Break[] = [];
  const start = performance.now();
  let [until, nextTelling] = [start + sliceMs, start + tellMs];
  for (const [index, event] of events.entries()) {
    const broken = recompute(event, index);
    if (broken) breaks.push(broken);
    if (breaks.length >= mostBreaks) return tell(index + 1, breaks);
    const now = performance.now();
    if (now < until) continue;
    if (now >= nextTelling) {
      tell(index + 1, noBreaks);
      nextTelling = now + tellMs;
    }
    await new Promise((resolve) => setTimeout(resolve));
    if (signal.aborted) return;
    until = performance.now() + sliceMs;
  }
  tell(events.length, breaks);
}
