import type { ApprovalAnswer, ApprovalRequest } from "@keyhole/kernel";
import { useEffect, useMemo, useState } from "react";
import { type ClientFault, faultOf, type Governance } from "../client/kernel-client.ts";
import type { Question } from "./allowed-before.ts";

type Desk = NonNullable<Governance["approvals"]["desk"]>;

export interface EdgeQuestions {
  /** `undefined` until the first answer of the edge. */
  readonly questions: readonly Question[] | undefined;
  /** Why the last attempt to read or to answer failed. */
  readonly fault: ClientFault | undefined;
}

const pauseMs = 2_000;

/**
 * The questions that wait at an edge, of all callers, asked for again and again while a screen shows them. A question that stays is the same object: its dead time and the typed text continue.
 */
export function useEdgeQuestions(desk: Desk): EdgeQuestions {
  const [requests, setRequests] = useState<readonly ApprovalRequest[]>();
  const [fault, setFault] = useState<ClientFault>();
  useEffect(() => {
    let isLeft = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async (): Promise<void> => {
      try {
        const waiting = await desk.waiting();
        if (isLeft) return;
        setRequests((before) => merged(before ?? [], waiting));
        setFault(undefined);
      } catch (error) {
        if (!isLeft) setFault(faultOf(error));
      }
      if (!isLeft) timer = setTimeout(() => void look(), pauseMs);
    };
    void look();
    return () => {
      isLeft = true;
      clearTimeout(timer);
    };
  }, [desk]);
  const questions = useMemo(
    () =>
      requests?.map((request): Question => ({
        request,
        before: undefined,
        answer(answer: ApprovalAnswer) {
          // It leaves the queue at once, so that no second press answers it again.
          setRequests((all) => all?.filter((each) => each !== request));
          desk.answer(request.approvalId, answer).catch((error: unknown) => setFault(faultOf(error)));
        },
      })),
    [requests, desk],
  );
  return { questions, fault };
}

/** Exported for its test: an edge can change what it asks under the same id, and then it is another question. */
export function merged(known: readonly ApprovalRequest[], now: readonly ApprovalRequest[]): readonly ApprovalRequest[] {
  const texts = new Map(known.map((request) => [JSON.stringify(request), request]));
  const unique = now.filter(({ approvalId }, at) => now.findIndex((each) => each.approvalId === approvalId) === at);
  return unique.map((request) => texts.get(JSON.stringify(request)) ?? request);
}
