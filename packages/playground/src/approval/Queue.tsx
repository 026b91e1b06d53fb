import { type ToolSummary, visible } from "@keyhole/kernel";
import { questionSentence } from "@keyhole/kernel/policy";
import { type ReactNode, useState } from "react";
import { Button } from "../ui/Button.tsx";
import { ChoiceRow } from "./ChoiceRow.tsx";
import { clockText, useLeftMs } from "./clock.ts";
import type { Question } from "./allowed-before.ts";

interface QueueProps {
  readonly questions: readonly Question[];
  readonly shown: Question;
  readonly tools: readonly ToolSummary[];
  readonly onChoose: (approvalId: string) => void;
}

/** A person reads no more at once; the rest follows the answers to these. */
const mostRows = 50;

/** The questions that wait, the oldest first. */
export function Queue({ questions, shown, tools, onChoose }: QueueProps): ReactNode {
  return (
    <nav className="stack-m sunken question-queue" aria-label="Questions that wait">
      <h3>
        Waiting <span className="muted count">{questions.length}</span>
      </h3>
      <ol>
        {questions.slice(0, mostRows).map((question) => (
          <Row
            key={question.request.approvalId}
            question={question}
            isShown={question === shown}
            tool={tools.find(({ id }) => id === question.request.tool)}
            onChoose={onChoose}
          />
        ))}
      </ol>
      {questions.length > mostRows && <p className="hint">And {questions.length - mostRows} more.</p>}
      <NotificationChoice />
    </nav>
  );
}

interface RowProps extends Pick<QueueProps, "onChoose"> {
  readonly question: Question;
  readonly isShown: boolean;
  readonly tool: ToolSummary | undefined;
}

function Row({ question: { request }, isShown, tool, onChoose }: RowProps): ReactNode {
  const leftMs = useLeftMs(request.expiresAt);
  const what = questionSentence(request, tool?.manifest);
  return (
    <ChoiceRow isShown={isShown} what={what} onChoose={() => onChoose(request.approvalId)}>
      <span className="question-row-tool">{visible(request.tool)}</span>
      <span className="clamp wrap question-row-what">{what}</span>
      <span className="hint num wrap" data-urgent={leftMs < 15_000 || undefined}>
        {leftMs > 0 ? `${clockText(leftMs)} left` : "Expired"}, for {visible(request.caller).slice(0, 60)}
      </span>
    </ChoiceRow>
  );
}

/** Only a press may ask the browser for it. */
function NotificationChoice(): ReactNode {
  const [permission, setPermission] = useState(() =>
    "Notification" in globalThis ? Notification.permission : "denied",
  );
  if (permission !== "default") return null;
  return (
    <Button look="quiet" onPress={() => void Notification.requestPermission().then(setPermission)}>
      Notify me while this page is hidden
    </Button>
  );
}
