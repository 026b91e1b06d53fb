import type { Governance, GovernanceState } from "../client/kernel-client.ts";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { ErrorBoundary } from "../ui/ErrorBoundary.tsx";
import { useNow } from "../ui/time.ts";
import { type TabItem, Tabs } from "../ui/Tabs.tsx";
import { Loading, Notice } from "../ui/Notice.tsx";
import { bytesText } from "../app/words.ts";
import { visible } from "@keyhole/kernel";
import { BrokenView, ErrorView } from "./ErrorView.tsx";
import { CopyAs } from "./CopyAs.tsx";
import { Logs } from "./Logs.tsx";
import { Origins } from "./Origins.tsx";
import { ResultView } from "./ResultView.tsx";
import { stateOf } from "../session/call-head.ts";
import type { ActiveRun } from "./run-state.ts";
import { CallBoundary } from "./CallBoundary.tsx";
import { Timeline } from "./Timeline.tsx";
import { VerdictBar } from "./VerdictBar.tsx";
import { VerificationView } from "./VerificationView.tsx";

const DecisionView = lazy(async () => ({ default: (await import("../decision/DecisionView.tsx")).DecisionView }));

const ProofView = lazy(async () => ({ default: (await import("./ProofView.tsx")).ProofView }));

export interface RunViewProps {
  readonly run: ActiveRun;
  /** In the session. */
  readonly id?: string | undefined;
  readonly governance: Governance | undefined;
  readonly governed: GovernanceState | undefined;
  readonly onOpenPolicy: () => void;
  readonly onReconnect: () => void;
}

/** A call that was made: how it stands, its picture, its result, and all that it left. */
export function RunView({ run, id, governance, governed, onOpenPolicy, onReconnect }: RunViewProps): ReactNode {
  const [chosen, choose] = useState<string>();
  const [leadsToChanges, lead] = useState(false);
  const tabs = tabsOf({ run, id, governance, governed, onOpenPolicy, onReconnect, leadsToChanges }, () => {
    lead(true);
    choose("decision");
  });
  return (
    <>
      <VerdictBar run={run} id={id} />
      <ErrorBoundary part="The picture of the call" resetKey={run.phase}>
        <CallBoundary run={run} governed={governed} />
      </ErrorBoundary>
      {run.phase === "running" && <Underway run={run} />}
      <Tabs
        label="What the call left"
        tabs={tabs}
        chosen={chosen}
        onChoose={(tab) => {
          lead(false);
          choose(tab);
        }}
      />
    </>
  );
}

interface TabsOfRunProps extends RunViewProps {
  /** The tab was opened by a question about the changes, which stand below the ladder. */
  readonly leadsToChanges: boolean;
}

function tabsOf(props: TabsOfRunProps, onDecision: () => void): readonly TabItem[] {
  const { run, governance, governed, leadsToChanges } = props;
  const within = (part: string, resetKey: unknown, content: ReactNode): ReactNode => (
    <ErrorBoundary part={part} resetKey={resetKey}>
      <Suspense fallback={<Loading>Loading…</Loading>}>{content}</Suspense>
    </ErrorBoundary>
  );
  return [
    {
      id: "result",
      name: "Result",
      panel: () =>
        within(
          "The outcome of the call",
          run.phase,
          <div className="stack-l outcome">
            <Outcome {...props} onDecision={onDecision} />
          </div>,
        ),
    },
    {
      id: "events",
      name: nameWith("Events", run.events.length),
      panel: () => within("The events", run, <Timeline events={run.events} isRunning={run.phase === "running"} />),
    },
    {
      id: "decision",
      name: "Decision",
      panel: () =>
        within(
          "The decision",
          run,
          <>
            {stateOf(run) === "refused" && <Origins input={run.input} before={run.startedAt} />}
            <DecisionView run={run} governance={governance} governed={governed} leadsToChanges={leadsToChanges} />
          </>,
        ),
    },
    {
      id: "proof",
      name: "Proof",
      panel: () => within("The proof", run, <ProofView run={run} governance={governance} />),
    },
    {
      id: "logs",
      name: nameWith("Logs", run.logs.length),
      panel: () => within("The log lines", run.logs, <Logs logs={run.logs} />),
    },
    { id: "copy", name: "Copy as", panel: () => within("The snippets", run, <CopyAs run={run} />) },
  ];
}

function nameWith(name: string, count: number): ReactNode {
  return (
    <>
      {name} <Count of={count} />
    </>
  );
}

type OutcomeProps = Omit<RunViewProps, "id" | "governance" | "governed"> & { readonly onDecision: () => void };

function Outcome({ run, onOpenPolicy, onReconnect, onDecision }: OutcomeProps): ReactNode {
  switch (run.phase) {
    case "running":
      return <p className="hint">The result comes when the call ends.</p>;
    case "broken":
      return <BrokenView fault={run.fault} onReconnect={onReconnect} />;
    case "done":
      return <Ended run={run} onOpenPolicy={onOpenPolicy} onDecision={onDecision} />;
  }
}

/** The page shows no contradictory answer as a result. */
interface EndedProps extends Pick<OutcomeProps, "onOpenPolicy" | "onDecision"> {
  readonly run: ActiveRun & { phase: "done" };
}

function Ended({ run, onOpenPolicy, onDecision }: EndedProps): ReactNode {
  const { result, tool, file, verification, unkept = [] } = run;
  const shown = result.ok ? (
    <>
      {unkept.length > 0 && (
        <Notice tone="warn" title="Not all of this call was kept">
          <p>{unkept.join(" ")}</p>
        </Notice>
      )}
      <ResultView result={result} tool={tool} file={file} />
    </>
  ) : (
    <ErrorView result={result} onOpenPolicy={onOpenPolicy} onDecision={onDecision} />
  );
  if (verification === undefined) return shown;
  const view = <VerificationView verification={verification} />;
  if (verification.verdict !== "broken")
    return (
      <>
        {shown}
        {view}
      </>
    );
  return (
    <>
      <Notice tone="bad" title="The answer of the edge contradicts itself" urgent>
        <p>Do not rely on it: the result, the proof or the events are not what they claim to be.</p>
      </Notice>
      {view}
      <details className="details">
        <summary>The answer as the edge sent it</summary>
        {shown}
      </details>
    </>
  );
}

function Count({ of }: { readonly of: number }): ReactNode {
  return of === 0 ? null : <span className="muted count">{of}</span>;
}

/** Often enough to be alive, seldom enough to be calm. */
const tickMs = 100;

/** In sight whichever view is open. */
function Underway({ run }: { readonly run: ActiveRun & { phase: "running" } }): ReactNode {
  return (
    <div className="stack-s underway">
      <RunProgress run={run} />
      {run.received && <Received bytes={run.received} since={run.startedAt} />}
    </div>
  );
}

/** Looked at now and then: chunks come faster than a person reads. */
function Received({ bytes, since }: { readonly bytes: () => number; readonly since: number }): ReactNode {
  useNow(since, tickMs);
  return bytes() > 0 && <p className="muted num">{bytesText(bytes())} received</p>;
}

function RunProgress({ run }: { readonly run: ActiveRun & { phase: "running" } }): ReactNode {
  const { progress } = run;
  const total = progress?.total;
  const percentage =
    total === undefined ? undefined : Math.round((Math.min(progress?.done ?? 0, total) / Math.max(total, 1)) * 100);
  const text =
    progress?.message === undefined
      ? stateOf(run) === "asks"
        ? "Nothing runs until a person allows it."
        : "Running in its isolate…"
      : visible(progress.message);
  return (
    <label className="stack-s progress">
      <span className="wrap muted">{text}</span>
      <progress max={100} value={percentage} />
    </label>
  );
}
