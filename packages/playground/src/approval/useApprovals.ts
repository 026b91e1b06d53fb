import type { ApprovalAnswer, ApprovalRequest } from "@keyhole/kernel";
import { useCallback, useState } from "react";
import { AllowedBefore, type Question } from "./allowed-before.ts";

/** Where the shown question stands among those that came together. */
export interface Place {
  /** From 1. */
  readonly number: number;
  readonly total: number;
}

export interface Approvals {
  /** Everything that waits, the oldest first. */
  readonly questions: readonly Question[];
  /** The shown question: the oldest, or the one that the person chose. */
  readonly question: Question | undefined;
  readonly place: Place;
  readonly choose: (approvalId: string) => void;
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

/** Questions in the order of arrival, each until its answer or the end of its approval. */
export function useApprovals(): Approvals {
  const [{ questions, answered }, setQueue] = useState<Queue>(empty);
  const [chosen, setChosen] = useState<string>();
  const [allowed] = useState(() => new AllowedBefore());

  const approve = useCallback(
    (request: ApprovalRequest, signal: AbortSignal) =>
      allowed.ask(request, signal, {
        enter: (question) => setQueue((queue) => ({ ...queue, questions: [...queue.questions, question] })),
        leave: (question) => setQueue((queue) => without(queue, question)),
      }),
    [allowed],
  );

  const question = questions.find(({ request }) => request.approvalId === chosen) ?? questions[0];
  const at = question === undefined ? 0 : questions.indexOf(question);
  const place = { number: answered + at + 1, total: answered + questions.length };
  return { questions, question, place, choose: setChosen, approve };
}
