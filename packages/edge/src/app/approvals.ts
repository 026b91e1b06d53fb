import type { ApprovalAnswer, ApprovalRequest, Approver } from "@keyhole/kernel";

/** Where calls wait for a person: the kernel asks, a request from outside answers. */
export interface ApprovalDesk {
  readonly approver: Approver;
  /** What waits now, oldest first. */
  list(): readonly ApprovalRequest[];
  /** Answers once. `false` where nothing of this id waits (any more). */
  answer(approvalId: string, answer: ApprovalAnswer): boolean;
}

export function approvalDesk(): ApprovalDesk {
  const waiting = new Map<
    string,
    { readonly request: ApprovalRequest; readonly resolve: (answer: ApprovalAnswer) => void }
  >();
  return {
    approver: (request, signal) =>
      new Promise((resolve, reject) => {
        waiting.set(request.approvalId, { request, resolve });
        // The call ended or the question expired: a late answer finds nothing.
        const withdraw = (): void => {
          waiting.delete(request.approvalId);
          reject(new Error("nobody waits for this approval any more"));
        };
        if (signal.aborted) withdraw();
        else signal.addEventListener("abort", withdraw, { once: true });
      }),
    list: () => [...waiting.values()].map(({ request }) => request),
    answer(approvalId, answer) {
      const entry = waiting.get(approvalId);
      if (entry === undefined) return false;
      waiting.delete(approvalId);
      entry.resolve(answer);
      return true;
    },
  };
}
