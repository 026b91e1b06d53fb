import type { AuditLog } from "../audit/log.ts";
import type { Clock } from "../isolate/clock.ts";
import { limits } from "../limits.ts";
import { next, type Step, type Stop, stop } from "./call.ts";
import { nextAttempt, type Started } from "./execute.ts";
import { errorOf } from "./finish.ts";

/**
 * One more run of a call whose run failed for a reason that passes; the failure itself where there is none. Only tools whose manifest says that they are
 * idempotent run again, and an isolate that was lost after the tool had touched anything is not replaced: whether that happened is not known. The runs
 * of one call share its deadline and its budgets.
 */
export async function retry(started: Started, why: Stop, log: AuditLog, clock: Clock): Promise<Step<Started>> {
  const { call, attempt, deadline } = started;
  const delayMs = limits.retryMs * 4 ** (attempt - 1);
  if (!canRunAgain(started, why) || delayMs >= deadline.leftMs) return why;
  await pause(delayMs, call.options.signal, clock);
  if (call.options.signal?.aborted) return stop("CANCELLED", "The caller cancelled before the tool ran again.");
  log.record("tool.retried", call.scope, {
    attempt: attempt + 1,
    code: why.code,
    errorHash: call.hash.jsonOrFault({ ...errorOf(why) }),
  });
  await log.flush();
  return next(nextAttempt(started, log));
}

function canRunAgain({ tool, attempt, gate, hold, flow, body }: Started, { code, retryable }: Stop): boolean {
  // Its caller has a part of its output already, or has given a part of its body.
  if (flow?.byteLength || body?.wasRead) return false;
  if (tool.manifest.idempotent !== true || attempt >= limits.attempts || !retryable || hold?.revoked.aborted)
    return false;
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
