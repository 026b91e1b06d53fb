import type { ErrorCode } from "@keyhole/kernel";
import type { Governance } from "../client/kernel-client.ts";
import { type ReactNode, type RefObject, useEffect, useState } from "react";
import { Label, ProgressBar, Tab, TabList, TabPanel, Tabs } from "react-aria-components";
import { Badge, type Tone } from "../ui/Badge.tsx";
import { ErrorBoundary } from "../ui/ErrorBoundary.tsx";
import { Empty, Notice } from "../ui/Notice.tsx";
import { bytesText, durationText } from "../app/words.ts";
import { visible } from "../ui/visible.ts";
import { BrokenView, ErrorView } from "./ErrorView.tsx";
import { Logs } from "./Logs.tsx";
import { ProofView } from "./ProofView.tsx";
import { ResultView } from "./ResultView.tsx";
import type { ActiveRun, Run } from "./run-state.ts";
import { Timeline } from "./Timeline.tsx";
import { VerificationView } from "./VerificationView.tsx";

interface RunPanelProps {
  readonly run: Run;
  readonly governance: Governance | undefined;
  readonly ref: RefObject<HTMLElement | null>;
  readonly onOpenPolicy: () => void;
  readonly onReconnect: () => void;
}

export function RunPanel({ run, ref, ...rest }: RunPanelProps): ReactNode {
  return (
    <section ref={ref} className="run" aria-label="The call" aria-busy={run.phase === "running"}>
      {run.phase === "idle" ? (
        <Empty title="Nothing has run yet">
          <p>Fill in the form and press Run. The result, its proof and every event of the call appear here.</p>
        </Empty>
      ) : (
        <ActiveRunView key={run.startedAt} run={run} {...rest} />
      )}
    </section>
  );
}

type ActiveRunProps = Omit<RunPanelProps, "run" | "ref"> & { readonly run: ActiveRun };

function ActiveRunView({ run, governance, onOpenPolicy, onReconnect }: ActiveRunProps): ReactNode {
  return (
    <>
      <RunHead run={run} />
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

function Outcome({ run, onOpenPolicy, onReconnect }: Omit<ActiveRunProps, "governance">): ReactNode {
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
  const { result, tool, file, verification } = run;
  const shown = result.ok ? (
    <ResultView result={result} tool={tool} file={file} />
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

function stateOf(run: ActiveRun): { readonly text: string; readonly tone: Tone } {
  if (run.phase === "broken") return { text: "No answer", tone: "bad" };
  if (run.phase === "done" && run.verification?.verdict === "broken") return { text: "Broken answer", tone: "bad" };
  if (run.phase === "done")
    return run.result.ok ? { text: "Completed", tone: "good" } : failureState(run.result.error.code);
  if (run.cancelling) return { text: "Cancelling", tone: "warn" };
  return isAsking(run) ? { text: "Waiting for approval", tone: "warn" } : { text: "Running", tone: "accent" };
}

const refusals: ReadonlySet<ErrorCode> = new Set([
  "INVALID_INPUT",
  "CAPABILITY_DENIED",
  "POLICY_DENIED",
  "APPROVAL_DENIED",
  "APPROVAL_EXPIRED",
  "RATE_LIMITED",
]);

function failureState(code: ErrorCode): { readonly text: string; readonly tone: Tone } {
  if (code === "CANCELLED") return { text: "Cancelled", tone: "warn" };
  return { text: refusals.has(code) ? "Refused" : "Failed", tone: "bad" };
}

function isAsking({ events }: ActiveRun): boolean {
  return (
    events.findLast(({ type }) => type === "approval.requested" || type === "approval.resolved")?.type ===
    "approval.requested"
  );
}

function RunHead({ run }: { readonly run: ActiveRun }): ReactNode {
  const { text, tone } = stateOf(run);
  return (
    <header className="run-head">
      <h2 className="mono">{visible(run.tool.id)}</h2>
      <output>
        <Badge tone={tone}>{text}</Badge>
      </output>
      <span className="muted run-time">
        {run.phase === "done" ? <Spent run={run} /> : run.phase === "running" && <Elapsed since={run.startedAt} />}
      </span>
    </header>
  );
}

function Spent({ run }: { readonly run: ActiveRun & { phase: "done" } }): ReactNode {
  const { durationMs, networkRequests, cached } = run.result.meta;
  const network =
    networkRequests === 0 ? "" : ` · ${networkRequests} ${networkRequests === 1 ? "request" : "requests"}`;
  return `${durationText(durationMs)}${network}${cached ? " · cached" : ""}`;
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

function Elapsed({ since }: { readonly since: number }): ReactNode {
  const now = useNow(since);
  return <span aria-hidden="true">{((now - since) / 1_000).toFixed(1)} s</span>;
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
              (isAsking(run) ? "Nothing runs until a person allows it." : "Running in its isolate…")}
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
