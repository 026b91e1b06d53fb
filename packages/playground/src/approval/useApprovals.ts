import type { ApprovalAnswer, ApprovalRequest } from "@keyhole/kernel";
import { useCallback, useState } from "react";

interface Question {
  readonly request: ApprovalRequest;
  readonly answer: (answer: ApprovalAnswer) => void;
}

/** Where the shown question stands among those that came together. */
export interface Place {
  /** From 1. */
  readonly number: number;
  readonly total: number;
}

export interface Approvals {
  /** The question that is shown; the others wait behind it. */
  readonly question: Question | undefined;
  readonly place: Place;
  readonly approve: (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalAnswer>;
}

interface Queue {
  readonly questions: readonly Question[];
  /** Since the queue was empty. */
  readonly answered: number;
}

const empty: Queue = { questions: [], answered: 0 };

function without({ questions, answered }: Queue, question: Question): Queue {
  const left = questions.filter((each) => each !== question);
  return left.length === 0 ? empty : { questions: left, answered: answered + questions.length - left.length };
}

/** Questions in the order in which they came, each until it is answered or the approval is closed. */
export function useApprovals(): Approvals {
  const [{ questions, answered }, setQueue] = useState<Queue>(empty);

  const approve = useCallback(
    (request: ApprovalRequest, signal: AbortSignal) =>
      new Promise<ApprovalAnswer>((resolve) => {
        const question: Question = {
          request,
          answer: (answer) => {
            setQueue((queue) => without(queue, question));
            resolve(answer);
          },
        };
        const withdraw = (): void =>
          question.answer({ answer: "deny", approver: "playground", reason: "Nobody waits for the answer any more." });
        if (signal.aborted) withdraw();
        else {
          signal.addEventListener("abort", withdraw, { once: true });
          setQueue((queue) => ({ ...queue, questions: [...queue.questions, question] }));
        }
      }),
    [],
  );

  return { question: questions[0], place: { number: answered + 1, total: answered + questions.length }, approve };
}
