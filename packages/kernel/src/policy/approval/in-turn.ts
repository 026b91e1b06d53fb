import type { ApprovalAnswer, ApprovalRequest, Approver } from "./approval.ts";

/** When the last question of an approver is over. By the approver: all kernels and clients that share one share its turns. */
const turns = new WeakMap<Approver, Promise<unknown>>();

/**
 * Asks when no other question of this approver is open. A question whose `signal` aborts before is never shown.
 * An approver that ignores the end of its question does not delay the next one.
 */
export async function askInTurn(
  approver: Approver,
  request: ApprovalRequest,
  signal: AbortSignal,
): Promise<ApprovalAnswer> {
  if (approver.concurrent === true) return approver(request, signal);
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const before = turns.get(approver);
  turns.set(
    approver,
    Promise.all([before, over]).then(() => undefined),
  );
  signal.addEventListener("abort", () => end(), { once: true });
  try {
    await before;
    if (signal.aborted) throw new Error("The question closed before its turn.");
    return await approver(request, signal);
  } finally {
    end();
  }
}
