import type { JsonObject, ToolSummary } from "@keyhole/kernel";
import type { ReactNode } from "react";
import { Dialog, Modal, ModalOverlay } from "react-aria-components";
import { Button } from "../ui/Button.tsx";
import { ErrorBoundary } from "../ui/ErrorBoundary.tsx";
import { approver, Question, questionTitle } from "./Question.tsx";
import type { Approvals, Place } from "./useApprovals.ts";

interface ApprovalDialogProps {
  readonly question: Approvals["question"];
  readonly place: Place;
  readonly tools: readonly ToolSummary[];
}

/** Nothing has the focus that would allow, and no button allows right after the question appeared: see {@link DeadTime}. */
export function ApprovalDialog({ question, place, tools }: ApprovalDialogProps): ReactNode {
  return (
    <ModalOverlay
      className="overlay centered"
      isOpen={question !== undefined}
      onOpenChange={(open) =>
        !open && question?.answer({ answer: "deny", approver, reason: "The dialog was dismissed." })
      }
    >
      <Modal className="dialog">
        <Dialog className="dialog-body" role="alertdialog" aria-labelledby={questionTitle}>
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
                request={question.request}
                place={place}
                known={propertiesOf(tools.find(({ id }) => id === question.request.tool))}
                onAnswer={question.answer}
              />
            </ErrorBoundary>
          )}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

const none: JsonObject = {};

function propertiesOf(tool: ToolSummary | undefined): JsonObject {
  const properties = tool?.manifest.input["properties"];
  return typeof properties === "object" && properties !== null && !Array.isArray(properties)
    ? (properties as JsonObject)
    : none;
}
