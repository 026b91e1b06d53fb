import { CallFault } from "./faults/fault.ts";

/**
 * Questions of the core that only an extension answers. Without the extension they fail closed with
 * these codes. The core holds the questions, so leaving an extension out never allows more than
 * having it.
 */
const questions = {
  approval: {
    code: "APPROVAL_UNAVAILABLE",
    message: "The policy asks for an approval, and this kernel has no approvals.",
    operatorHint: "Add approvals(approver) to `extensions`, or change the rule from ask to deny.",
  },
  idempotencyKey: {
    code: "IDEMPOTENCY_UNAVAILABLE",
    message: "Got the option `idempotencyKey`, expected none: this kernel remembers no keys.",
    operatorHint: "Add idempotency() to `extensions`, or omit the key for calls that may run twice.",
  },
  suspension: {
    code: "SUSPENSION_UNAVAILABLE",
    message: "Got a snapshot of a suspended call, expected none: this kernel resumes no calls.",
    operatorHint: "Give the kernel callSuspender({ key }), with the key of the kernel that suspended the call.",
  },
} as const;

export type Question = keyof typeof questions;
/** Questions that a caller asks by an option of its call. */
export type OptionQuestion = "idempotencyKey";

export function unanswered(question: Question): CallFault {
  const { code, message, operatorHint } = questions[question];
  return new CallFault(code, message, { operatorHint });
}
