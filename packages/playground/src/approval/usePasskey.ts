import type { ApprovalAnswer, ApprovalRequest } from "@keyhole/kernel";
import { useState } from "react";
import { signed } from "./passkey.ts";

export interface PasskeyAnswer {
  /** The policy demands one. */
  readonly isDemanded: boolean;
  readonly isWaiting: boolean;
  /** Why the last attempt gave no answer; empty where none failed. */
  readonly fault: string;
  /** Gives the answer: at once, or when a passkey has signed it. */
  readonly give: (answer: ApprovalAnswer) => void;
}

/** Only an approval has a signature: a denial and other arguments need no passkey. */
export function usePasskey(request: ApprovalRequest, onAnswer: (answer: ApprovalAnswer) => void): PasskeyAnswer {
  const [isWaiting, setWaiting] = useState(false);
  const [fault, setFault] = useState("");
  const isDemanded = request.passkey !== undefined;
  return {
    isDemanded,
    isWaiting,
    fault,
    give(answer) {
      if (answer.answer !== "allow" || !isDemanded) return onAnswer(answer);
      setWaiting(true);
      setFault("");
      signed(request, answer)
        .then(onAnswer, (error: unknown) => setFault(error instanceof Error ? error.message : String(error)))
        .finally(() => setWaiting(false));
    },
  };
}
