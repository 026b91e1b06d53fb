import type { JsonObject, ToolSummary } from "@keyhole/kernel";
import type { ReactNode } from "react";
import { Dialog, Modal, ModalOverlay } from "react-aria-components";
import { Button } from "../ui/Button.tsx";
import { ErrorBoundary } from "../ui/ErrorBoundary.tsx";
import { approver, Question } from "./Question.tsx";
import type { Approvals } from "./useApprovals.ts";

interface ApprovalDialogProps {
  readonly question: Approvals["question"];
  readonly tools: readonly ToolSummary[];
}

/** Nothing has the focus that would allow: neither Enter nor a stray click says yes. */
export function ApprovalDialog({ question, tools }: ApprovalDialogProps): ReactNode {
  return (
    <ModalOverlay
      className="overlay centered"
      isOpen={question !== undefined}
      onOpenChange={(open) =>
        !open && question?.answer({ answer: "deny", approver, reason: "The dialog was dismissed." })
      }
    >
      <Modal className="dialog">
        <Dialog className="dialog-body" role="alertdialog">
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
