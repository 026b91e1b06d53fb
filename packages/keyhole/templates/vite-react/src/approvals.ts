import { type ApprovalAnswer, type Approver, visible } from "@keyhole/kernel";

/** One request, in texts for a person: a model's words could hide characters, or turn the text around. */
export interface Question {
  readonly id: string;
  readonly tool: string;
  readonly reason: string;
  /** JSON. */
  readonly input: string;
  readonly grants: readonly string[];
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
    const { approvalId, tool, reason, input, grants } = request;
    const question: Question = {
      id: approvalId,
      tool: visible(tool),
      reason: visible(reason),
      input: visible(JSON.stringify(input, undefined, 2)),
      grants: grants.map(visible),
      answer: (answer) =>
        close(answer === "allow" ? { answer, scope: "once", approver: "page" } : { answer, approver: "page" }),
    };
    signal.addEventListener("abort", () => close({ answer: "deny", approver: "page" }), { once: true });
    change([...questions, question]);
  });
