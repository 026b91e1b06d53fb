import { CallFault } from "./fault.ts";

/**
 * Questions of the core that only an extension answers. Without the extension they fail closed with
 * these codes. The core holds the questions, so leaving an extension out never allows more than
 * having it.
 */
const questions = {
  approval: {
    code: "APPROVAL_DENIED",
    message: "Nobody is there to approve it.",
    hint: "Give createKernel, or this call, an approver.",
  },
} as const;

type Question = keyof typeof questions;

export function unanswered(question: Question, reason: string): CallFault {
  const { code, message, hint } = questions[question];
  return new CallFault(code, `${reason} ${message}`, { hint });
}
