import type { ToolSummary } from "@keyhole/kernel";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { ApprovalDialog } from "../approval/ApprovalDialog.tsx";
import { useApprovals } from "../approval/useApprovals.ts";
import { type EdgeLink, loadEdgeSettings, saveEdgeSettings } from "../client/edge-settings.ts";
import type { Governance, Place } from "../client/kernel-client.ts";
import { PolicySheet } from "../policy/PolicySheet.tsx";
import { RunPanel } from "../run/RunPanel.tsx";
import { useRun } from "../run/useRun.ts";
import { Announcer } from "../ui/announce.tsx";
import { Button } from "../ui/Button.tsx";
import { ErrorBoundary } from "../ui/ErrorBoundary.tsx";
import { Loading, Notice } from "../ui/Notice.tsx";
import { EdgeLinkNotice, useEdgeLink } from "./EdgeLinkNotice.tsx";
import { EdgeSettingsSheet } from "./EdgeSettingsForm.tsx";
import { Header } from "./Header.tsx";
import { SearchSettingsSheet, SearchState } from "./SearchSettings.tsx";
import { StorageNotice } from "./StorageNotice.tsx";
import { ToolList } from "./ToolList.tsx";
import { ToolPanel } from "./ToolPanel.tsx";
import { type Connect, type Connection, useKernel } from "./useKernel.ts";
import { useSearchKey } from "./useSearchKey.ts";
import { useTheme } from "./useTheme.ts";
import { visible } from "../ui/visible.ts";

interface AppProps {
  readonly connect: Connect;
  readonly startPlace: Place;
  /** What the page's address asked for. */
  readonly startLink?: EdgeLink | undefined;
}

type Open = "policy" | "edge" | "search" | undefined;

export function App({ connect, startPlace, startLink }: AppProps): ReactNode {
  const [place, setPlace] = useState<Place>(startPlace);
  const [theme, setTheme] = useTheme();
  const [open, setOpen] = useState<Open>(undefined);
  const { connection, reconnect } = useKernel(place, connect);
  /** One session per visit: what a person allows "for this session" ends when the page does. */
  const [sessionId] = useState(() => `playground-${crypto.randomUUID()}`);
  const client = connection.state === "ready" ? connection.client : undefined;

  return (
    <Announcer>
      <div className="page">
        <ErrorBoundary part="The header">
          <Header
            place={place}
            onPlace={setPlace}
            address={place === "edge" ? (client?.address ?? loadEdgeSettings()?.address) : undefined}
            state={connection.state}
            theme={theme}
            onTheme={setTheme}
            onPolicy={() => setOpen("policy")}
            onEdgeSettings={() => setOpen("edge")}
          />
        </ErrorBoundary>
        <Banners
          startLink={startLink}
          warning={client?.warning}
          onEdge={() => {
            setPlace("edge");
            reconnect();
          }}
        />
        <Main connection={connection} place={place} sessionId={sessionId} onOpen={setOpen} onReconnect={reconnect} />
      </div>
      <Sheets
        governance={client?.governance}
        open={open}
        onClose={() => setOpen(undefined)}
        onSaved={() => {
          setOpen(undefined);
          reconnect();
        }}
      />
    </Announcer>
  );
}

interface MainProps {
  readonly connection: Connection;
  readonly place: Place;
  readonly sessionId: string;
  readonly onOpen: (open: Open) => void;
  readonly onReconnect: () => void;
}

function Main({ connection, place, sessionId, onOpen, onReconnect }: MainProps): ReactNode {
  return (
    <ErrorBoundary part="This kernel" resetKey={connection} onReset={onReconnect}>
      {connection.state === "ready" ? (
        <Workbench
          key={place}
          connection={connection}
          sessionId={sessionId}
          onOpenPolicy={() => onOpen("policy")}
          onOpenSearch={() => onOpen("search")}
          onReconnect={onReconnect}
        />
      ) : (
        <Waiting
          connection={connection}
          place={place}
          onReconnect={onReconnect}
          onEdgeSettings={() => onOpen("edge")}
        />
      )}
    </ErrorBoundary>
  );
}

interface BannersProps {
  readonly startLink: EdgeLink | undefined;
  readonly warning: string | undefined;
  /** The person took an edge, which is saved. */
  readonly onEdge: () => void;
}

/** What the person has to know, or to decide, whatever else the page shows. */
function Banners({ startLink, warning, onEdge }: BannersProps): ReactNode {
  const [link, closeLink] = useEdgeLink(startLink);
  return (
    <div className="banners">
      <StorageNotice />
      {link !== undefined && (
        <EdgeLinkNotice
          key={JSON.stringify(link)}
          link={link}
          onIgnore={closeLink}
          onUse={(settings) => {
            saveEdgeSettings(settings);
            closeLink();
            onEdge();
          }}
        />
      )}
      {warning !== undefined && <Notice tone="warn" title={warning} urgent />}
    </div>
  );
}

interface SheetsProps {
  readonly governance: Governance | undefined;
  readonly open: Open;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

function Sheets({ governance, open, onClose, onSaved }: SheetsProps): ReactNode {
  return (
    <>
      <PolicySheet governance={governance} isOpen={open === "policy"} onClose={onClose} />
      <SearchSettingsSheet governance={governance} isOpen={open === "search"} onClose={onClose} onSaved={onSaved} />
      <EdgeSettingsSheet isOpen={open === "edge"} onClose={onClose} onSaved={onSaved} />
    </>
  );
}

interface WaitingProps {
  readonly connection: Exclude<Connection, { state: "ready" }>;
  readonly place: Place;
  readonly onReconnect: () => void;
  readonly onEdgeSettings: () => void;
}

function Waiting({ connection, place, onReconnect, onEdgeSettings }: WaitingProps): ReactNode {
  return (
    <main className="waiting">
      {connection.state === "connecting" ? (
        <Loading>{place === "browser" ? "Starting the kernel in this page…" : "Connecting to the edge…"}</Loading>
      ) : (
        <Notice
          tone={connection.fault.kind === "unconfigured" ? "neutral" : "bad"}
          title={connection.fault.message}
          urgent
          actions={
            <>
              {connection.fault.kind !== "unconfigured" && <Button onPress={onReconnect}>Try again</Button>}
              {place === "edge" && (
                <Button look={connection.fault.kind === "unconfigured" ? "primary" : "plain"} onPress={onEdgeSettings}>
                  Enter address and token
                </Button>
              )}
            </>
          }
        >
          <p>{visible(connection.fault.hint)}</p>
        </Notice>
      )}
    </main>
  );
}

interface WorkbenchProps {
  readonly connection: Extract<Connection, { state: "ready" }>;
  readonly sessionId: string;
  readonly onOpenPolicy: () => void;
  readonly onOpenSearch: () => void;
  readonly onReconnect: () => void;
}

function Workbench({ connection, sessionId, onOpenPolicy, onOpenSearch, onReconnect }: WorkbenchProps): ReactNode {
  const { client, tools } = connection;
  const [selected, setSelected] = useState<string | undefined>(() => firstOf(tools)?.id);
  /** On a narrow screen only one of the two is in sight. */
  const [view, setView] = useState<"list" | "tool">("list");
  const search = useRef<HTMLInputElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const result = useRef<HTMLElement>(null);
  const { question, place, approve } = useApprovals();
  const { run, start, cancel, clear } = useRun(client, sessionId, approve);
  const tool = tools.find(({ id }) => id === selected);

  const select = (id: string): void => {
    if (id === selected) return;
    setSelected(id);
    clear();
  };
  const showList = (): void => {
    // In sight first, and before the next key: what is typed after the slash belongs to the search.
    flushSync(() => setView("list"));
    search.current?.focus();
    search.current?.select();
  };
  useSearchKey(showList);

  const [opened, setOpened] = useState(0);
  useEffect(() => {
    if (opened > 0) heading.current?.focus();
  }, [opened]);
  const openTool = (id: string): void => {
    select(id);
    setView("tool");
    setOpened((count) => count + 1);
  };

  return (
    <main className="bench" data-view={view}>
      <ErrorBoundary part="The list of tools" resetKey={tools}>
        <ToolList
          tools={tools}
          selected={selected}
          onSelect={select}
          onOpen={openTool}
          searchRef={search}
          footer={client.place === "browser" && <SearchState onOpen={onOpenSearch} />}
        />
      </ErrorBoundary>
      <ErrorBoundary part="The tool" resetKey={tool} actions={<Button onPress={showList}>Back to the tools</Button>}>
        {tool !== undefined && (
          <ToolPanel
            tool={tool}
            headingRef={heading}
            isRunning={run.phase === "running"}
            isCancelling={run.phase === "running" && run.cancelling}
            onRun={(input, body) => {
              start(tool, input, body);
              bringIntoSight(result.current);
            }}
            onCancel={cancel}
            onBack={showList}
          />
        )}
      </ErrorBoundary>
      <ErrorBoundary part="The call" resetKey={run.phase === "idle" ? undefined : run.startedAt}>
        <RunPanel
          ref={result}
          run={run}
          governance={client.governance}
          onOpenPolicy={onOpenPolicy}
          onReconnect={onReconnect}
        />
      </ErrorBoundary>
      <ApprovalDialog question={question} place={place} tools={tools} />
    </main>
  );
}

/** Where the result is below the form, it would stay out of sight. */
function bringIntoSight(result: HTMLElement | null): void {
  if (!matchMedia("(width < 1080px)").matches) return;
  const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  // The header stays in sight above it, in one line or in two.
  const header = document.querySelector<HTMLElement>(".top");
  if (result && header) result.style.scrollMarginTop = `${header.offsetHeight + 8}px`;
  result?.scrollIntoView({ behavior: isCalm ? "instant" : "smooth", block: "start" });
}

/** The gentlest tool first. */
function firstOf(tools: readonly ToolSummary[]): ToolSummary | undefined {
  return tools.find(({ manifest }) => manifest.name === "echo") ?? tools[0];
}
