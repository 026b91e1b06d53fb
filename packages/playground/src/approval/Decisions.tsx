import { readVersionedId, visible } from "@keyhole/kernel";
import { type ReactNode, useMemo, useState } from "react";
import { isKeyOfField, useKey } from "../app/keys.ts";
import type { Governance, GovernanceState } from "../client/kernel-client.ts";
import { DecisionView } from "../decision/DecisionView.tsx";
import { CallBoundary } from "../run/CallBoundary.tsx";
import { Origins } from "../run/Origins.tsx";
import { VerdictBar } from "../run/VerdictBar.tsx";
import { stateWords } from "../run/verdict.ts";
import { type CallHead, isOpen } from "../session/call-head.ts";
import { useSessionState, useShown } from "../session/useSession.ts";
import { ErrorBoundary } from "../ui/ErrorBoundary.tsx";
import { Empty, Loading } from "../ui/Notice.tsx";
import { StateMark } from "../ui/StateMark.tsx";
import { ChoiceRow } from "./ChoiceRow.tsx";

interface DecisionsProps {
  readonly governance: Governance | undefined;
  readonly governed: GovernanceState | undefined;
}

/** A person pages through these; the log of calls has all. */
const mostRows = 200;

/** How each call of the session was decided, the latest first. */
export function Decisions({ governance, governed }: DecisionsProps): ReactNode {
  const { heads } = useSessionState();
  const ended = useMemo(() => heads.filter(({ state }) => !isOpen(state)), [heads]);
  const rows = ended.slice(0, mostRows);
  const [chosen, choose] = useState<string>();
  const shown = rows.find(({ id }) => id === chosen) ?? rows.find(({ state }) => state === "refused") ?? rows[0];
  useStepKeys((step) => {
    const next = shown && rows[rows.indexOf(shown) + step];
    if (next) choose(next.id);
  });
  if (shown === undefined)
    return (
      <Empty title="Nothing is decided yet">
        <p>Run a tool. Then this screen says why the kernel allowed or refused the call.</p>
      </Empty>
    );
  return (
    <div className="approvals-bench">
      <nav className="stack-m sunken question-queue" aria-label="Decisions">
        <p className="hint">
          <kbd>[</kbd> and <kbd>]</kbd> step through {ended.length > mostRows ? `the latest ${mostRows}` : "them"}.
        </p>
        <ol>
          {rows.map((head) => (
            <Row key={head.id} head={head} isShown={head === shown} onChoose={choose} />
          ))}
        </ol>
      </nav>
      <ErrorBoundary part="The decision" resetKey={shown.id}>
        <Decision key={shown.id} id={shown.id} governance={governance} governed={governed} />
      </ErrorBoundary>
    </div>
  );
}

interface RowProps {
  readonly head: CallHead;
  readonly isShown: boolean;
  readonly onChoose: (id: string) => void;
}

function Row({ head: { id, state, tool, what }, isShown, onChoose }: RowProps): ReactNode {
  return (
    <ChoiceRow isShown={isShown} what={visible(what)} onChoose={() => onChoose(id)}>
      <span className="mono-s log-state" data-state={state}>
        <StateMark state={state} />
        <code>{visible(readVersionedId(tool).name)}</code>
        <span className="visually-hidden">{stateWords[state]}</span>
      </span>
      <span className="clamp wrap question-row-what">{visible(what)}</span>
    </ChoiceRow>
  );
}

function Decision({ id, governance, governed }: DecisionsProps & { readonly id: string }): ReactNode {
  const shown = useShown(id);
  if (shown?.state === "loading") return <Loading>Reading the call…</Loading>;
  if (shown?.state !== "shown") return <p className="hint decision-page">This call cannot be read.</p>;
  const { run } = shown;
  return (
    <section className="decision-page" aria-label="The decision">
      <VerdictBar run={run} id={id} />
      <CallBoundary run={run} governed={governed} />
      <Origins input={run.input} before={run.startedAt} />
      <div className="decision-all">
        <DecisionView run={run} governance={governance} governed={governed} />
      </div>
    </section>
  );
}

/** `[` goes to the decision before, `]` to the next one, outside of fields. */
function useStepKeys(step: (by: 1 | -1) => void): void {
  useKey((event) => {
    const { key, ctrlKey, metaKey } = event;
    if ((key !== "[" && key !== "]") || ctrlKey || metaKey || isKeyOfField(event)) return;
    step(key === "]" ? 1 : -1);
  });
}
