import { IsolateFailure } from "@keyhole/kernel";
import type { FairSemaphore } from "@keyhole/kernel/fair-semaphore";

/**
 * Waits for a slot and returns its release, which is idempotent. Tools take turns: a burst of sessions of one tool delays another by one slot at a time.
 *
 * @param isWanted asked when the turn of this request has come. Default: it is
 * @throws IsolateFailure when no call waits for the isolate at that time
 */
export async function takeSlot(slots: FairSemaphore, tool: string, isWanted?: () => boolean): Promise<() => void> {
  const slot = slots.take([tool], { isWanted });
  const turn = slot.kind === "queued" ? await slot.turn : slot;
  if (turn.kind === "refused") throw nobodyWaits();
  return turn.release;
}

export function nobodyWaits(): IsolateFailure {
  return new IsolateFailure("ISOLATE_LOST", "No call waits for this isolate.", {}, "host");
}
