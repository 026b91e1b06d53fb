import { lazy, type ReactNode, Suspense, useCallback } from "react";
import type { GovernanceState } from "../client/kernel-client.ts";
import type { Approve } from "../session/calls.ts";
import { ErrorBoundary } from "../ui/ErrorBoundary.tsx";
import { Loading } from "../ui/Notice.tsx";
import { type Route, screenRoute } from "./route.ts";
import type { Connection } from "./useKernel.ts";
import type { Go } from "./useRoute.ts";

const PolicyScreen = lazy(async () => ({ default: (await import("../policy/PolicyScreen.tsx")).PolicyScreen }));
const AgentScreen = lazy(async () => ({ default: (await import("../agent/AgentScreen.tsx")).AgentScreen }));
const BuildScreen = lazy(async () => ({ default: (await import("../authoring/BuildScreen.tsx")).BuildScreen }));
const ApprovalsScreen = lazy(async () => ({
  default: (await import("../approval/ApprovalsScreen.tsx")).ApprovalsScreen,
}));
const TimelineScreen = lazy(async () => ({ default: (await import("../timeline/TimelineScreen.tsx")).TimelineScreen }));
const ReplayScreen = lazy(async () => ({ default: (await import("../replay/ReplayScreen.tsx")).ReplayScreen }));

interface ScreenPartProps {
  readonly screen: Extract<Route, { kind: "screen" }>;
  readonly connection: Connection;
  readonly governed: GovernanceState | undefined;
  readonly approve: Approve;
  readonly sessionId: string;
  readonly go: Go;
}

/** A screen beside the workbench. It loads when the person opens it. */
export function ScreenPart(props: ScreenPartProps): ReactNode {
  return (
    <ErrorBoundary part="This screen" resetKey={props.screen.name}>
      <Suspense fallback={<Loading>Loading the screen…</Loading>}>
        <Screen {...props} />
      </Suspense>
    </ErrorBoundary>
  );
}

/** The timeline of a call or of the session. */
export function TimelinePart({ id, go }: { readonly id: string | undefined; readonly go: Go }): ReactNode {
  return (
    <ErrorBoundary part="The timeline" resetKey={id}>
      <Suspense fallback={<Loading>Loading the timeline…</Loading>}>
        <TimelineScreen
          id={id}
          onCall={(call) => go({ kind: "call", id: call })}
          onSession={() => go({ kind: "timeline", id: undefined })}
        />
      </Suspense>
    </ErrorBoundary>
  );
}

const noTools: readonly string[] = [];

function Screen({ screen, connection, governed, approve, sessionId, go }: ScreenPartProps): ReactNode {
  const takeLink = useCallback(() => go(screenRoute("build"), "replace"), [go]);
  if (screen.name === "replay") return <ReplayScreen key={screen.rest} callId={screen.rest} />;
  // The workbench says why there is no kernel.
  if (connection.state !== "ready") return null;
  if (screen.name === "approvals") {
    const { client, tools } = connection;
    return (
      <ApprovalsScreen
        key={client.address ?? client.place}
        governance={client.governance}
        governed={governed}
        tools={tools}
      />
    );
  }
  if (screen.name === "agent")
    return (
      <AgentScreen
        key={connection.client.address ?? connection.client.place}
        connection={connection}
        governed={governed}
        approve={approve}
      />
    );
  if (screen.name === "build") {
    return (
      <BuildScreen
        key={connection.client.place}
        client={connection.client}
        governed={governed}
        approve={approve}
        sessionId={sessionId}
        link={screen.rest}
        onLinkTaken={takeLink}
        onOpenPolicy={() => go(screenRoute("policy"))}
      />
    );
  }
  return (
    <PolicyScreen key={connection.client.place} governance={connection.client.governance} tools={namesOf(connection)} />
  );
}

const known = new WeakMap<Connection, readonly string[]>();

/** The same array for the same connection: another one gets a new editor. */
function namesOf(connection: Connection): readonly string[] {
  if (connection.state !== "ready") return noTools;
  const names = known.get(connection) ?? [...new Set(connection.tools.map(({ manifest }) => manifest.name))];
  known.set(connection, names);
  return names;
}
