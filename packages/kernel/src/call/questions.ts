import { CallFault } from "./faults/fault.ts";
import * as texts from "./faults/texts.ts";
import type { ErrorCode } from "../result.ts";

export type Question = keyof typeof texts.unansweredTexts;
/** Questions that a caller asks by an option of its call. */
export type OptionQuestion = "idempotencyKey";

/**
 * Questions of the core that only an extension answers. Without the extension they fail closed with
 * these codes. The core holds the questions, so leaving an extension out never allows more than
 * having it.
 */
const codes = {
  approval: "APPROVAL_UNAVAILABLE",
  idempotencyKey: "IDEMPOTENCY_UNAVAILABLE",
  suspension: "SUSPENSION_UNAVAILABLE",
} as const satisfies Record<Question, ErrorCode>;

export function unanswered(question: Question): CallFault {
  return new CallFault(codes[question], texts.unansweredTexts[question]);
}
