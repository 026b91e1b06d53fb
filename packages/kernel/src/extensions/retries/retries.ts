import { CallFault } from "../../call/faults/fault.ts";
import { modelError } from "../../call/faults/model-error.ts";
import { usageOf } from "../../call/ending/spent.ts";
import type { Started } from "../../call/steps/start.ts";
import type { Clock } from "../../isolate/clock.ts";
import * as limits from "../../limits.ts";
import type { CallError } from "../../result.ts";
import type { Extension, ExtensionContext } from "../../call/extension.ts";

/**
 * Runs a call once more when its run failed for a passing reason. Only tools with an idempotent
 * manifest run again. A lost isolate is not replaced after the tool used any access, because the
 * outcome of that access is unknown. The runs of one call share its deadline and its budgets.
 */
export function retries(): Extension {
  let context: ExtensionContext;
  return {
    name: "retries",
    open: (given) => void (context = given),
    aroundRun(started, attempt) {
      if (started.tool.manifest.idempotent !== true) return attempt(started);
      const run = (each: Started): ReturnType<typeof attempt> =>
        attempt(each).catch((thrown: unknown) => again(each, thrown, context).then(run));
      return run(started);
    },
  };
}

/** Throws the failure itself where there is no further run. */
async function again(
  started: Started,
  thrown: unknown,
  { log, clock, nextAttempt }: ExtensionContext,
): Promise<Started> {
  const { call, attempt, deadline } = started;
  const delayMs = limits.retryMs * 4 ** (attempt - 1);
  if (!(thrown instanceof CallFault)) throw thrown;
  const { error } = thrown;
  if (!canRunAgain(started, error) || delayMs >= deadline.leftMs) throw thrown;
  await pause(delayMs, call.options.signal, clock);
  if (call.options.signal?.aborted) throw new CallFault("CANCELLED", "The caller cancelled before the tool ran again.");
  log.record("tool.retried", call.scope, {
    attempt: attempt + 1,
    code: error.code,
    errorHash: call.hash.jsonOrFault({ ...modelError(error) }),
  });
  await log.flush();
  return nextAttempt(started);
}

function canRunAgain(
  { attempt, bounds: { fuel }, gate, hold, flow, body, isMetered, used }: Started,
  { code, retryable }: CallError,
): boolean {
  if (isMetered && fuel !== undefined && (usageOf(used).fuelUsed ?? 0) >= fuel) return false;
  // Its caller has a part of its output already, or has given a part of its body.
  if (flow?.byteLength || body?.wasRead) return false;
  if (attempt >= limits.attempts || !retryable || hold?.revoked.aborted) return false;
  return code === "TOOL_ERROR" || (code === "ISOLATE_LOST" && !gate.counts.wasUsed);
}

function pause(delayMs: number, signal: AbortSignal | undefined, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const leave = (): void => {
      stopTimer();
      signal?.removeEventListener("abort", leave);
      resolve();
    };
    const stopTimer = clock.after(delayMs, leave);
    signal?.addEventListener("abort", leave, { once: true });
    if (signal?.aborted) leave();
  });
}
