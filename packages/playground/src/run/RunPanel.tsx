import type { Governance, GovernanceState } from "../client/kernel-client.ts";
import { lazy, type ReactNode, type RefObject, Suspense, useEffect, useState } from "react";
import { Label, ProgressBar, Tab, TabList, TabPanel, Tabs } from "react-aria-components";
import { ErrorBoundary } from "../ui/ErrorBoundary.tsx";
import { Empty, Loading, Notice } from "../ui/Notice.tsx";
import { bytesText } from "../app/words.ts";
import { visible } from "@keyhole/kernel";
import { BrokenView, ErrorView } from "./ErrorView.tsx";
import { Logs } from "./Logs.tsx";
import { ProofView } from "./ProofView.tsx";
import { ResultView } from "./ResultView.tsx";
import { stateOf } from "../session/call-head.ts";
import type { Shown } from "../session/calls.ts";
import type { ActiveRun } from "./run-state.ts";
import { CallBoundary } from "./CallBoundary.tsx";
import { Timeline } from "./Timeline.tsx";
import { VerdictBar } from "./VerdictBar.tsx";
import { VerificationView } from "./VerificationView.tsx";

const DecisionView = lazy(async () => {
  const { DecisionView: view } = await import("../decision/DecisionView.tsx");
  return { default: view };
});

interface RunPanelProps {
  /** `undefined`: no call is asked for. */
  readonly shown: Shown | undefined;
  /** A tool is chosen, and its form is beside this. */
  readonly hasForm: boolean;
  readonly governance: Governance | undefined;
  readonly governed: GovernanceState | undefined;
  readonly ref: RefObject<HTMLElement | null>;
  readonly onOpenPolicy: () => void;
  readonly onReconnect: () => void;
}

export function RunPanel({ shown, hasForm, ref, ...rest }: RunPanelProps): ReactNode {
  const isRunning = shown?.state === "shown" && shown.run.phase === "running";
  return (
    <section ref={ref} className="run" aria-label="The call" aria-busy={isRunning}>
      {shown?.state === "shown" ? (
        <ActiveRunView key={shown.run.startedAt} run={shown.run} {...rest} />
      ) : (
        <NoRun shown={shown} hasForm={hasForm} />
      )}
    </section>
  );
}

interface NoRunProps {
  readonly shown: Exclude<Shown, { state: "shown" }> | undefined;
  readonly hasForm: boolean;
}

function NoRun({ shown, hasForm }: NoRunProps): ReactNode {
  switch (shown?.state) {
    case "loading":
      return <Loading>Reading the call…</Loading>;
    case "missing":
      return (
        <Empty title="This call is not here">
          <p>It was deleted, or it was made in another browser. A link to a call leads to it only where it was made.</p>
        </Empty>
      );
    case "unreadable":
      return (
        <Notice tone="bad" title="This call cannot be read" urgent>
          <p>{visible(shown.fault.message)}</p>
        </Notice>
      );
    case undefined:
      return (
        hasForm && (
          <Empty title="Nothing has run yet">
            <p>Fill in the form and press Run. The result, its proof and every event of the call appear here.</p>
          </Empty>
        )
      );
  }
}

type ActiveRunProps = Omit<RunPanelProps, "shown" | "hasForm" | "ref"> & { readonly run: ActiveRun };

function ActiveRunView({ run, governance, governed, onOpenPolicy, onReconnect }: ActiveRunProps): ReactNode {
  return (
    <>
      <VerdictBar run={run} />
      <ErrorBoundary part="The picture of the call" resetKey={run.phase}>
        <CallBoundary run={run} governed={governed} />
      </ErrorBoundary>
      <div className="outcome">
        <ErrorBoundary part="The outcome of the call" resetKey={run.phase}>
          <Outcome run={run} onOpenPolicy={onOpenPolicy} onReconnect={onReconnect} />
        </ErrorBoundary>
      </div>
      <Tabs className="tabs" defaultSelectedKey="events">
        <TabList className="tab-list" aria-label="What the call left">
          <Tab id="events" className="tab">
            Events <Count of={run.events.length} />
          </Tab>
          <Tab id="decision" className="tab">
            Decision
          </Tab>
          <Tab id="proof" className="tab">
            Proof
          </Tab>
          <Tab id="logs" className="tab">
            Logs <Count of={run.logs.length} />
          </Tab>
        </TabList>
        <TabPanel id="events" className="tab-panel">
          <ErrorBoundary part="The events" resetKey={run}>
            <Timeline events={run.events} isRunning={run.phase === "running"} />
          </ErrorBoundary>
        </TabPanel>
        <TabPanel id="decision" className="tab-panel">
          <ErrorBoundary part="The decision" resetKey={run}>
            <Suspense fallback={<Loading>Loading the decision…</Loading>}>
              <DecisionView run={run} governance={governance} governed={governed} />
            </Suspense>
          </ErrorBoundary>
        </TabPanel>
        <TabPanel id="proof" className="tab-panel">
          <ErrorBoundary part="The proof" resetKey={run}>
            <ProofView run={run} governance={governance} />
          </ErrorBoundary>
        </TabPanel>
        <TabPanel id="logs" className="tab-panel">
          <ErrorBoundary part="The log lines" resetKey={run.logs}>
            <Logs logs={run.logs} />
          </ErrorBoundary>
        </TabPanel>
      </Tabs>
    </>
  );
}

function Outcome({ run, onOpenPolicy, onReconnect }: Omit<ActiveRunProps, "governance" | "governed">): ReactNode {
  switch (run.phase) {
    case "running":
      return (
        <>
          <RunProgress run={run} />
          {run.received && <Received bytes={run.received} since={run.startedAt} />}
        </>
      );
    case "broken":
      return <BrokenView fault={run.fault} onReconnect={onReconnect} />;
    case "done":
      return <Ended run={run} onOpenPolicy={onOpenPolicy} />;
  }
}

/** An answer that contradicts itself is not shown as a result. */
function Ended({
  run,
  onOpenPolicy,
}: Pick<ActiveRunProps, "onOpenPolicy"> & { readonly run: ActiveRun & { phase: "done" } }): ReactNode {
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
    <ErrorView result={result} onOpenPolicy={onOpenPolicy} />
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
  return of === 0 ? null : <span className="count">{of}</span>;
}

/** Often enough to be alive, seldom enough to be calm. */
const tickMs = 100;

function useNow(startedAt: number): number {
  const [now, setNow] = useState(startedAt);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), tickMs);
    return () => clearInterval(timer);
  }, []);
  return now;
}

/** Looked at now and then: pieces come faster than anybody reads. */
function Received({ bytes, since }: { readonly bytes: () => number; readonly since: number }): ReactNode {
  useNow(since);
  return bytes() > 0 && <p className="received">{bytesText(bytes())} received</p>;
}

function RunProgress({ run }: { readonly run: ActiveRun & { phase: "running" } }): ReactNode {
  const { progress } = run;
  const total = progress?.total;
  return (
    <ProgressBar
      className="progress"
      {...(total === undefined
        ? { isIndeterminate: true }
        : { value: progress?.done ?? 0, maxValue: Math.max(total, 1) })}
    >
      {({ percentage }) => (
        <>
          <Label className="progress-label">
            {(progress?.message === undefined ? undefined : visible(progress.message)) ??
              (stateOf(run) === "asks" ? "Nothing runs until a person allows it." : "Running in its isolate…")}
          </Label>
          <span className="progress-track">
            <svg
              className="progress-bar"
              data-indeterminate={percentage === undefined || undefined}
              viewBox="0 0 100 1"
              preserveAspectRatio="none"
              aria-hidden="true"
            >
              <rect width={percentage ?? 30} height="1" />
            </svg>
          </span>
        </>
      )}
    </ProgressBar>
  );
}
