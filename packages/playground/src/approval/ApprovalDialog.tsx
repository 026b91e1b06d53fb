import type { ToolSummary } from "@keyhole/kernel";
import type { ReactNode } from "react";
import { Dialog, Modal, ModalOverlay } from "react-aria-components";
import { Button } from "../ui/Button.tsx";
import { ErrorBoundary } from "../ui/ErrorBoundary.tsx";
import { Origins } from "../run/Origins.tsx";
import { approver } from "./answers.tsx";
import { Question, questionTitle } from "./Question.tsx";
import { Queue } from "./Queue.tsx";
import type { Approvals } from "./useApprovals.ts";

interface ApprovalDialogProps {
  readonly approvals: Pick<Approvals, "question" | "questions" | "place" | "choose">;
  readonly tools: readonly ToolSummary[];
  /** Controls to stop calls: the header behind the dialog is out of reach. */
  readonly stops: ReactNode;
}

/** Nothing has the focus that would allow, and no button allows right after the question appeared: see {@link DeadTime}. */
export function ApprovalDialog({ approvals, tools, stops }: ApprovalDialogProps): ReactNode {
  const { question, questions, place, choose } = approvals;
  return (
    <ModalOverlay
      className="overlay centered"
      isOpen={question !== undefined}
      onOpenChange={(open) =>
        !open && question?.answer({ answer: "deny", approver, reason: "The dialog was dismissed." })
      }
    >
      <Modal className={place.total > 1 ? "dialog with-queue" : "dialog"}>
        <Dialog className="dialog-body" role="alertdialog" aria-labelledby={questionTitle}>
          <div className="dialog-stops">{stops}</div>
          {question !== undefined && place.total > 1 && (
            <Queue questions={questions} shown={question} tools={tools} onChoose={choose} />
          )}
          {question !== undefined && (
            <ErrorBoundary
              part="The question"
              resetKey={question}
              actions={
                <Button
                  look="danger"
                  onPress={() =>
                    question.answer({ answer: "deny", approver, reason: "The page could not show the question." })
                  }
                >
                  Deny
                </Button>
              }
            >
              <Question
                key={question.request.approvalId}
                {...question}
                place={place}
                origins={<Origins input={question.request.input} before={Infinity} />}
                tool={tools.find(({ id }) => id === question.request.tool)}
                onAnswer={question.answer}
              />
            </ErrorBoundary>
          )}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
