import { type ApprovalAnswer, type Approver, visible } from "@keyhole/kernel";

/** One request, in texts for a person: a model's words could hide characters, or turn the text around. */
export interface Question {
  readonly id: string;
  readonly tool: string;
  readonly reason: string;
  /** JSON. */
  readonly input: string;
  readonly grants: readonly string[];
  /** Whether a person can have read it: an agent could end the question that the pointer is on, and another one takes its place. */
  readonly isReady: boolean;
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

const readMs = 700;
const denied: ApprovalAnswer = { answer: "deny", approver: "page" };

/** Shows a question until a person answers it or the kernel closes it. The kernel asks one at a time. */
export const askInPage: Approver = ({ approvalId, tool, reason, input, grants }, signal) =>
  new Promise((resolve) => {
    const close = (answer: ApprovalAnswer): void => {
      clearTimeout(timer);
      change([]);
      resolve(answer);
    };
    const question: Question = {
      id: approvalId,
      tool: visible(tool),
      reason: visible(reason),
      input: visible(JSON.stringify(input, undefined, 2)),
      grants: grants.map(visible),
      isReady: false,
      answer: (answer) => close(answer === "allow" ? { answer, scope: "once", approver: "page" } : denied),
    };
    const timer = setTimeout(() => change([{ ...question, isReady: true }]), readMs);
    signal.addEventListener("abort", () => close(denied), { once: true });
    change([question]);
  });
