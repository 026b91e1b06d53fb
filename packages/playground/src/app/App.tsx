import { type ReactNode, useState } from "react";
import { type EdgeLink, loadEdgeSettings, saveEdgeSettings } from "../client/edge-settings.ts";
import type { Governance, Place } from "../client/kernel-client.ts";
import { PolicySheet } from "../policy/PolicySheet.tsx";
import { Announcer } from "../ui/announce.tsx";
import { Button } from "../ui/Button.tsx";
import { ErrorBoundary } from "../ui/ErrorBoundary.tsx";
import { Loading, Notice } from "../ui/Notice.tsx";
import { EdgeLinkNotice, useEdgeLink } from "./EdgeLinkNotice.tsx";
import { EdgeSettingsSheet } from "./EdgeSettingsForm.tsx";
import { Header } from "./Header.tsx";
import { SearchSettingsSheet } from "./SearchSettings.tsx";
import { StorageNotice } from "./StorageNotice.tsx";
import { type Connect, type Connection, useKernel } from "./useKernel.ts";
import { useTheme } from "./useTheme.ts";
import { visible } from "../ui/visible.ts";
import { Workbench } from "./Workbench.tsx";

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
