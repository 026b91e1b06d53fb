import type { ApprovalAnswer, ApprovalRequest, Approver } from "@keyhole/kernel";

export interface Question {
  readonly request: ApprovalRequest;
  readonly answer: (answer: "allow" | "deny") => void;
}

let questions: readonly Question[] = [];
const watchers = new Set<() => void>();

function change(next: readonly Question[]): void {
  questions = next;
  for (const watcher of watchers) watcher();
}

/** The open questions, for `useSyncExternalStore`. */
export const openQuestions = (): readonly Question[] => questions;
export function watchQuestions(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

/** Shows each question until a person answers it, or the kernel closes it. */
export const askInPage: Approver = (request, signal) =>
  new Promise<ApprovalAnswer>((resolve) => {
    const close = (answer: ApprovalAnswer): void => {
      change(questions.filter((each) => each !== question));
      resolve(answer);
    };
    const question: Question = {
      request,
      answer: (answer) =>
        close(answer === "allow" ? { answer, scope: "once", approver: "page" } : { answer, approver: "page" }),
    };
    signal.addEventListener("abort", () => close({ answer: "deny", approver: "page" }), { once: true });
    change([...questions, question]);
  });
