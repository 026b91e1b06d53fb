import type { ApprovalRequest, ToolSummary } from "@keyhole/kernel";
import { type ReactNode, useState } from "react";
import type { Governance, GovernanceState } from "../client/kernel-client.ts";
import { Origins } from "../run/Origins.tsx";
import { ErrorBoundary } from "../ui/ErrorBoundary.tsx";
import { Empty, FaultNotice, Loading } from "../ui/Notice.tsx";
import { Segmented } from "../ui/Segmented.tsx";
import "./approvals.css";
import { Decisions } from "./Decisions.tsx";
import { Question } from "./Question.tsx";
import { Queue } from "./Queue.tsx";
import { useEdgeQuestions } from "./useEdgeQuestions.ts";

interface ApprovalsScreenProps {
  readonly governance: Governance | undefined;
  readonly governed: GovernanceState | undefined;
  readonly tools: readonly ToolSummary[];
}

const parts = [
  { value: "questions", text: "Questions" },
  { value: "decisions", text: "Decisions" },
] as const;

/** Questions that wait at the edge, of any caller, and all decisions of the session. The page's own calls ask in a dialog. */
export function ApprovalsScreen({ governance, governed, tools }: ApprovalsScreenProps): ReactNode {
  /** Absent where this page may not see the questions of other callers. */
  const desk = governance?.approvals.desk;
  const [part, setPart] = useState<(typeof parts)[number]["value"]>(desk === undefined ? "decisions" : "questions");
  return (
    <main className="screen approvals-screen" aria-label="Decide">
      <header className="bar under screen-head">
        <h1>Decide</h1>
        <Segmented label="What to show" value={part} options={parts} onChange={setPart} />
      </header>
      {part === "decisions" ? (
        <Decisions governance={governance} governed={governed} />
      ) : desk === undefined ? (
        <Empty title="Questions of this page appear over it">
          <p>
            A question of a call that you make appears over the page. Turn to an edge, with a token that may answer, and
            the questions of all its callers are listed here.
          </p>
        </Empty>
      ) : (
        <Waiting desk={desk} tools={tools} />
      )}
    </main>
  );
}

interface WaitingProps extends Pick<ApprovalsScreenProps, "tools"> {
  readonly desk: NonNullable<Governance["approvals"]["desk"]>;
}

function Waiting({ desk, tools }: WaitingProps): ReactNode {
  const { questions, fault } = useEdgeQuestions(desk);
  const [chosen, setChosen] = useState<string>();
  const shown = questions?.find(({ request }) => request.approvalId === chosen) ?? questions?.[0];
  return (
    <>
      {fault !== undefined && <FaultNotice fault={fault} />}
      {questions === undefined && fault === undefined && <Loading>Asking the edge…</Loading>}
      {questions?.length === 0 && (
        <Empty title="Nothing waits">
          <p>No call at this edge waits for an answer.</p>
        </Empty>
      )}
      {questions !== undefined && shown !== undefined && (
        <div className="approvals-bench">
          <Queue questions={questions} shown={shown} tools={tools} onChoose={setChosen} />
          <ErrorBoundary part="The question" resetKey={shown}>
            <Question
              key={keyOf(shown.request)}
              {...shown}
              place={{ number: questions.indexOf(shown) + 1, total: questions.length }}
              origins={<Origins input={shown.request.input} before={Infinity} />}
              tool={tools.find(({ id }) => id === shown.request.tool)}
              onAnswer={shown.answer}
            />
          </ErrorBoundary>
        </div>
      )}
    </>
  );
}

/** Another question under the same id starts anew, with its own dead time. */
function keyOf({ approvalId, argsHash, tool }: ApprovalRequest): string {
  return JSON.stringify([approvalId, argsHash, tool]);
}
