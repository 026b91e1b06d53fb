import { ModeSwitch } from "./ModeSwitch.tsx";
import { RunningCalls } from "./RunningCalls.tsx";
import { lazy, type ReactNode, Suspense, useEffect, useState } from "react";
import { useApprovals } from "../approval/useApprovals.ts";
import { useAskedAway } from "../approval/useAskedAway.ts";
import type { EdgeLink } from "../client/edge-settings.ts";
import type { Governance, GovernanceState, KernelClient, Place } from "../client/kernel-client.ts";
import { CallLog } from "../log/CallLog.tsx";
import { browserSession } from "../session/browser-session.ts";
import { SessionProvider, useSession } from "../session/useSession.ts";
import { Announcer } from "../ui/announce.tsx";
import { Button } from "../ui/Button.tsx";
import { ErrorBoundary } from "../ui/ErrorBoundary.tsx";
import { Loading, Notice } from "../ui/Notice.tsx";
import { Banners } from "./Banners.tsx";
import { Header } from "./Header.tsx";
import { preload } from "./preload.ts";
import { Rail } from "./Rail.tsx";
import { type BenchRoute, isWithoutKernel, type Route, screenRoute } from "./route.ts";
import { ScreenPart, TimelinePart } from "./ScreenPart.tsx";
import { useGoverned } from "./useGoverned.ts";
import { type Connect, type Connection, useKernel } from "./useKernel.ts";
import { useFindKey } from "./keys.ts";
import { type Go, useRoute } from "./useRoute.ts";
import { useTheme } from "./useTheme.ts";
import { visible } from "@keyhole/kernel";
import { Workbench } from "./Workbench.tsx";

const ApprovalDialog = lazy(async () => ({ default: (await import("../approval/ApprovalDialog.tsx")).ApprovalDialog }));
const EdgeSettingsSheet = lazy(async () => ({ default: (await import("./EdgeSettingsForm.tsx")).EdgeSettingsSheet }));
const FindDialog = lazy(async () => ({ default: (await import("../actions/FindDialog.tsx")).FindDialog }));
const SearchSettingsSheet = lazy(async () => ({ default: (await import("./SearchSettings.tsx")).SearchSettingsSheet }));

interface AppProps {
  readonly connect: Connect;
  readonly startPlace: Place;
  /** The request in the page's address. */
  readonly startLink?: EdgeLink | undefined;
}

/** The dialog that is open. */
type Open = "edge" | "search" | "find" | undefined;

export function App(props: AppProps): ReactNode {
  const [session] = useState(browserSession);
  return (
    <Announcer>
      <SessionProvider value={session}>
        <Page {...props} />
      </SessionProvider>
    </Announcer>
  );
}

function Page({ connect, startPlace, startLink }: AppProps): ReactNode {
  const [place, setPlace] = useState<Place>(startPlace);
  const [open, setOpen] = useState<Open>(undefined);
  const look = useTheme();
  const { connection, reconnect } = useKernel(place, connect);
  const client = connection.state === "ready" ? connection.client : undefined;
  const [route, go] = useRoute();
  const [asked, ask] = useAsked(go);
  const bench = useBenchRoute(route);
  const governed = useGoverned(client?.governance);
  const openCall = (id: string): void => go({ kind: "call", id });
  useLeaving(client);
  const find = (): void => setOpen("find");
  const close = (): void => setOpen(undefined);
  const here = { connection, place, onPlace: setPlace, governed, look };
  useFindKey(find);
  const isStarted = connection.state === "ready" && !connection.isStarting;
  useEffect(() => {
    if (isStarted) void preload();
  }, [isStarted]);
  return (
    <>
      <div className="page">
        <ErrorBoundary part="The header">
          <Header {...here} onEdgeSettings={() => setOpen("edge")} onOpenCall={openCall} onFind={find} />
        </ErrorBoundary>
        <Rail route={route} bench={bench} go={go} />
        <Banners
          isLocked={governed?.mode === "LOCKDOWN"}
          startLink={startLink}
          warning={connection.state === "ready" ? connection.warning : undefined}
          onEdge={() => {
            setPlace("edge");
            reconnect();
          }}
        />
        <Main
          connection={connection}
          place={place}
          screen={route}
          route={bench}
          asked={asked}
          go={go}
          governed={governed}
          onOpen={setOpen}
          onReconnect={reconnect}
        />
        <Log route={route} governance={client?.governance} onOpen={openCall} />
      </div>
      <Sheets governance={client?.governance} open={open} onClose={close} onSaved={reconnect} />
      {open === "find" && (
        <ErrorBoundary part="The search">
          <Suspense>
            <FindDialog {...here} route={route} bench={bench} onSettings={setOpen} onClose={close} onGo={ask} />
          </Suspense>
        </ErrorBoundary>
      )}
    </>
  );
}

/** How often the person asked for a tool or a call, and the way to ask: the focus goes there, too. */
function useAsked(go: Go): readonly [number, (to: Route) => void] {
  const [asked, setAsked] = useState(0);
  const ask = (to: Route): void => {
    go(to);
    if (to.kind === "tool" || to.kind === "call") setAsked(asked + 1);
  };
  return [asked, ask];
}

/** The workbench stays as it was behind another screen. */
function useBenchRoute(route: Route): BenchRoute {
  const [last, setLast] = useState<BenchRoute>({ kind: "start" });
  if (route.kind === "timeline" || route.kind === "screen") return last;
  if (last !== route) setLast(route);
  return route;
}

interface LogProps {
  readonly route: Route;
  readonly governance: Governance | undefined;
  readonly onOpen: (id: string) => void;
}

function Log({ route, governance, onOpen }: LogProps): ReactNode {
  return (
    <ErrorBoundary part="The log of calls">
      <CallLog
        current={route.kind === "call" || route.kind === "timeline" ? route.id : undefined}
        governance={governance}
        onOpen={onOpen}
      />
    </ErrorBoundary>
  );
}

/** No call of a kernel arrives after the page has turned away from it. */
function useLeaving(client: KernelClient | undefined): void {
  const { calls } = useSession();
  useEffect(() => () => client && calls.leave(client), [calls, client]);
  useEffect(() => client && calls.watch(client), [calls, client]);
}

interface MainProps {
  readonly connection: Connection;
  readonly place: Place;
  readonly screen: Route;
  /** The call that the workbench shows, or showed last. */
  readonly route: BenchRoute;
  readonly asked: number;
  readonly go: Go;
  readonly governed: GovernanceState | undefined;
  readonly onOpen: (open: Open) => void;
  readonly onReconnect: () => void;
}

function Main({ connection, place, screen, onOpen, onReconnect, ...rest }: MainProps): ReactNode {
  /** One session per visit: an approval "for this session" ends with the page. */
  const [sessionId] = useState(() => `playground-${crypto.randomUUID()}`);
  const approvals = useApprovals();
  const { question, questions, approve } = approvals;
  useAskedAway(questions);
  const isHidden = screen.kind === "timeline" || screen.kind === "screen";
  return (
    <ErrorBoundary part="This kernel" resetKey={connection} onReset={onReconnect}>
      {connection.state === "ready" ? (
        <Workbench
          key={place}
          connection={connection}
          sessionId={sessionId}
          approve={approve}
          isHidden={isHidden}
          {...rest}
          onOpenPolicy={() => rest.go(screenRoute("policy"))}
          onOpenSearch={() => onOpen("search")}
          onReconnect={onReconnect}
        />
      ) : isWithoutKernel(screen) ? null : (
        <Waiting
          connection={connection}
          place={place}
          onReconnect={onReconnect}
          onEdgeSettings={() => onOpen("edge")}
        />
      )}
      {screen.kind === "timeline" && <TimelinePart id={screen.id} go={rest.go} />}
      {screen.kind === "screen" && (
        <ScreenPart
          screen={screen}
          connection={connection}
          governed={rest.governed}
          approve={approve}
          sessionId={sessionId}
          go={rest.go}
        />
      )}
      {question !== undefined && (
        <Suspense>
          <ApprovalDialog
            approvals={approvals}
            tools={connection.state === "ready" ? connection.tools : []}
            stops={
              <>
                {rest.governed !== undefined && connection.state === "ready" && (
                  <ModeSwitch mode={rest.governed.mode} setMode={connection.client.governance?.setMode} />
                )}
                <RunningCalls />
              </>
            }
          />
        </Suspense>
      )}
    </ErrorBoundary>
  );
}

interface SheetsProps {
  readonly governance: Governance | undefined;
  readonly open: Open;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

function Sheets({ governance, open, onClose, onSaved }: SheetsProps): ReactNode {
  const saved = (): void => {
    onClose();
    onSaved();
  };
  return (
    <Suspense>
      {open === "search" && <SearchSettingsSheet governance={governance} onClose={onClose} onSaved={saved} />}
      {open === "edge" && <EdgeSettingsSheet onClose={onClose} onSaved={saved} />}
    </Suspense>
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
      <h1 className="visually-hidden">Keyhole</h1>
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
