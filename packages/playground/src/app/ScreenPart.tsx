import { lazy, type ReactNode, Suspense } from "react";
import { ErrorBoundary } from "../ui/ErrorBoundary.tsx";
import { Loading } from "../ui/Notice.tsx";
import type { Route } from "./route.ts";
import type { Connection } from "./useKernel.ts";

const PolicyScreen = lazy(async () => ({ default: (await import("../policy/PolicyScreen.tsx")).PolicyScreen }));
const ReplayScreen = lazy(async () => ({ default: (await import("../replay/ReplayScreen.tsx")).ReplayScreen }));

interface ScreenPartProps {
  readonly screen: Extract<Route, { kind: "screen" }>;
  readonly connection: Connection;
}

/** A screen beside the workbench, loaded when it is opened. */
export function ScreenPart(props: ScreenPartProps): ReactNode {
  return (
    <ErrorBoundary part="This screen" resetKey={props.screen.name}>
      <Suspense fallback={<Loading>Loading the screen…</Loading>}>
        <Screen {...props} />
      </Suspense>
    </ErrorBoundary>
  );
}

const noTools: readonly string[] = [];

function Screen({ screen, connection }: ScreenPartProps): ReactNode {
  if (screen.name === "replay") return <ReplayScreen />;
  // The workbench says why there is no kernel.
  if (connection.state !== "ready") return null;
  return (
    <PolicyScreen key={connection.client.place} governance={connection.client.governance} tools={namesOf(connection)} />
  );
}

const known = new WeakMap<Connection, readonly string[]>();

/** The same array for the same connection: the editor is set up anew for another one. */
function namesOf(connection: Connection): readonly string[] {
  if (connection.state !== "ready") return noTools;
  const names = known.get(connection) ?? [...new Set(connection.tools.map(({ manifest }) => manifest.name))];
  known.set(connection, names);
  return names;
}
