import type { ApprovalAnswer, ApprovalRequest, Approver } from "../policy/approval/approval.ts";

/** `allow` allows the call once. A function sees the question, and can fail the test. */
export type ScriptedAnswer =
  | "allow"
  | "deny"
  | ApprovalAnswer
  | ((request: ApprovalRequest) => "allow" | "deny" | ApprovalAnswer);

export interface ScriptedApprover {
  readonly approver: Approver;
  /** The questions so far. */
  readonly asked: readonly ApprovalRequest[];
  /** Answers that no question has taken. */
  readonly left: number;
}

/**
 * An approver that gives its answers in order. A question after the last answer is denied, and names the script as the reason.
 *
 * @example
 * const script = scriptedApprover("allow", "deny");
 * const kernel = await createKernel({ host, policy, approver: script.approver });
 */
export function scriptedApprover(...answers: readonly ScriptedAnswer[]): ScriptedApprover {
  const asked: ApprovalRequest[] = [];
  return {
    asked,
    get left() {
      return Math.max(0, answers.length - asked.length);
    },
    async approver(request) {
      const answer = answers[asked.length];
      asked.push(request);
      if (answer === undefined) return denied(`The script has no answer to question ${asked.length}.`);
      return answerOf(typeof answer === "function" ? answer(request) : answer);
    },
  };
}

function answerOf(answer: "allow" | "deny" | ApprovalAnswer): ApprovalAnswer {
  if (answer === "allow") return { answer, scope: "once", approver: "script" };
  return answer === "deny" ? denied("The script denies it.") : answer;
}

function denied(reason: string): ApprovalAnswer {
  return { answer: "deny", approver: "script", reason };
}
