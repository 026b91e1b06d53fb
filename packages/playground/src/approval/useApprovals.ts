import type { ApprovalAnswer, ApprovalRequest } from "@keyhole/kernel";
import { useCallback, useState } from "react";

interface Question {
  readonly request: ApprovalRequest;
  readonly answer: (answer: ApprovalAnswer) => void;
}

export interface Approvals {
  /** The question that is shown; the others wait behind it. */
  readonly question: Question | undefined;
  readonly approve: (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalAnswer>;
}

/** Questions in the order in which they came, each until it is answered or nobody waits any more. */
export function useApprovals(): Approvals {
  const [questions, setQuestions] = useState<readonly Question[]>([]);

  const approve = useCallback(
    (request: ApprovalRequest, signal: AbortSignal) =>
      new Promise<ApprovalAnswer>((resolve) => {
        const question: Question = {
          request,
          answer: (answer) => {
            setQuestions((all) => all.filter((each) => each !== question));
            resolve(answer);
          },
        };
        const withdraw = (): void =>
          question.answer({ answer: "deny", approver: "playground", reason: "Nobody waits for the answer any more." });
        if (signal.aborted) withdraw();
        else {
          signal.addEventListener("abort", withdraw, { once: true });
          setQuestions((all) => [...all, question]);
        }
      }),
    [],
  );

  return { question: questions[0], approve };
}
