import type { Clock } from "../../isolate/clock.ts";
import type { Ending } from "./ending.ts";
import { CallFault } from "../faults/fault.ts";
import type { CallRecord } from "../record/record.ts";

/** How an equal call ended. Throws where this one is cancelled before. */
export async function awaitEnding(other: Promise<Ending>, call: CallRecord, clock: Clock): Promise<Ending> {
  const startedMs = clock.monotonicMs();
  const ending = await orCancelled(other, call.options.signal);
  call.queuedMs += clock.monotonicMs() - startedMs;
  if (ending) return ending;
  throw new CallFault("CANCELLED", "The caller cancelled while an equal call was running.");
}

function orCancelled(ending: Promise<Ending>, cancel: AbortSignal | undefined): Promise<Ending | undefined> {
  if (!cancel) return ending;
  if (cancel.aborted) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const leave = (): void => resolve(undefined);
    cancel.addEventListener("abort", leave, { once: true });
    void ending.then((ended) => {
      cancel.removeEventListener("abort", leave);
      resolve(ended);
    });
  });
}
