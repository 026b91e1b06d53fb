import type { JsonValue, ToolSummary } from "@keyhole/kernel";
import { type ReactNode, type RefObject, useEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";
import type { GovernanceState } from "../client/kernel-client.ts";
import { useForesee } from "../form/useForesee.ts";
import { RunPanel } from "../run/RunPanel.tsx";
import type { Approve, Shown } from "../session/calls.ts";
import { useSession, useSessionFact, useShown } from "../session/useSession.ts";
import { Button } from "../ui/Button.tsx";
import { ErrorBoundary } from "../ui/ErrorBoundary.tsx";
import { Empty } from "../ui/Notice.tsx";
import { usePlainKey } from "./keys.ts";
import type { BenchRoute } from "./route.ts";
import { SearchState } from "./SearchState.tsx";
import { ToolList } from "./ToolList.tsx";
import { ToolPanel } from "./ToolPanel.tsx";
import type { Connection } from "./useKernel.ts";
import type { Go } from "./useRoute.ts";

interface WorkbenchProps {
  readonly connection: Extract<Connection, { state: "ready" }>;
  readonly sessionId: string;
  readonly approve: Approve;
  readonly route: BenchRoute;
  /** How often the person asked for a tool or call from elsewhere: each time the focus goes to the tool. */
  readonly asked: number;
  /** Another screen is in front; the form keeps its values. */
  readonly isHidden: boolean;
  readonly go: Go;
  readonly governed: GovernanceState | undefined;
  readonly onOpenPolicy: () => void;
  readonly onOpenSearch: () => void;
  readonly onReconnect: () => void;
}

/** A kernel that is connected: its tools, the one that is chosen, and its call. */
export function Workbench(props: WorkbenchProps): ReactNode {
  const { connection, route, isHidden, go, governed, sessionId, onOpenPolicy, onOpenSearch, onReconnect } = props;
  const { client, tools } = connection;
  const { view, search, heading, showList, showTool } = usePanes(route, props.asked);
  const { tool, shown } = useShownTool(tools, route);
  const { run, result, start, cancel } = useCall(props, shown);
  const foresee = useForesee({ client, sessionId, governed, tool });

  const select = (id: string): void => {
    if (id !== tool?.id) go({ kind: "tool", id }, route.kind === "call" ? "push" : "replace");
  };
  return (
    <main className="bench" data-view={view} hidden={isHidden}>
      <ErrorBoundary part="The list of tools" resetKey={tools}>
        <ToolList
          tools={tools}
          selected={tool?.id}
          onSelect={select}
          onOpen={(id) => {
            select(id);
            showTool();
          }}
          searchRef={search}
          footer={client.place === "browser" && <SearchState onOpen={onOpenSearch} />}
        />
      </ErrorBoundary>
      <ErrorBoundary part="The tool" resetKey={tool} actions={<Button onPress={showList}>Back to the tools</Button>}>
        {tool === undefined && shown?.state !== "loading" && <NoTool hasOthers={tools.length > 0} />}
        {tool !== undefined && shown?.state !== "loading" && (
          <ToolPanel
            tool={tool}
            isWatched={client.isWatched === true}
            seed={run?.input ?? undefined}
            foresee={foresee}
            headingRef={heading}
            isRunning={run?.phase === "running"}
            isCancelling={run?.phase === "running" && run.cancelling}
            onRun={(input, body) => start(tool, input, body)}
            onCancel={cancel}
            onBack={showList}
          />
        )}
      </ErrorBoundary>
      <ErrorBoundary part="The call" resetKey={run?.startedAt}>
        <RunPanel
          ref={result}
          shown={shown}
          id={route.kind === "call" ? route.id : undefined}
          hasForm={tool !== undefined}
          governance={client.governance}
          governed={governed}
          onOpenPolicy={onOpenPolicy}
          onReconnect={onReconnect}
        />
      </ErrorBoundary>
    </main>
  );
}

/** The address names a tool that this kernel does not have, or it has none. */
function NoTool({ hasOthers }: { readonly hasOthers: boolean }): ReactNode {
  return (
    <section className="tool" aria-label="The tool">
      <h1 className="visually-hidden">Call</h1>
      {hasOthers ? (
        <Empty title="This tool is not here">
          <p>The address names a tool that this kernel does not have. Choose another tool from the list.</p>
        </Empty>
      ) : (
        <Empty title="There is nothing to call">
          <p>This kernel has no tools. Register a tool with it, and load this page again.</p>
        </Empty>
      )}
    </section>
  );
}

/** The call that the address names, and its tool; else the tool that it names, or the first. */
function useShownTool(
  tools: readonly ToolSummary[],
  route: BenchRoute,
): { readonly tool: ToolSummary | undefined; readonly shown: Shown | undefined } {
  const shown = useShown(route.kind === "call" ? route.id : undefined);
  const logged = useSessionFact(({ heads }) =>
    route.kind === "call" ? heads.find(({ id }) => id === route.id)?.tool : undefined,
  );
  const wanted =
    route.kind === "call"
      ? (logged ?? (shown?.state === "shown" ? shown.run.tool.id : undefined))
      : route.kind === "tool"
        ? route.id
        : undefined;
  const tool = wanted === undefined ? firstOf(tools) : tools.find(({ id }) => id === wanted);
  return { tool, shown };
}

interface ShownCall {
  readonly run: Extract<Shown, { state: "shown" }>["run"] | undefined;
  readonly result: RefObject<HTMLElement | null>;
  readonly start: (tool: ToolSummary, input: JsonValue, body: Blob | undefined) => void;
  readonly cancel: () => void;
}

/** The call of the person, and its result on the page. */
function useCall({ connection, sessionId, approve, route, go }: WorkbenchProps, shown: Shown | undefined): ShownCall {
  const { calls } = useSession();
  const result = useRef<HTMLElement>(null);
  return {
    run: shown?.state === "shown" ? shown.run : undefined,
    result,
    start(tool, input, body) {
      const id = calls.start(connection.client, { tool, input, body, sessionId, approve });
      go({ kind: "call", id });
      bringIntoSight(result.current);
    },
    cancel() {
      if (route.kind === "call") calls.cancel(route.id);
    },
  };
}

/** The list of tools and the tool: on a narrow screen only one of them is in sight. The code that shows one takes the focus there. */
function usePanes(
  route: BenchRoute,
  asked: number,
): {
  readonly view: "list" | "tool";
  readonly search: RefObject<HTMLInputElement | null>;
  readonly heading: RefObject<HTMLHeadingElement | null>;
  readonly showList: () => void;
  readonly showTool: () => void;
} {
  const [view, setView] = useState<"list" | "tool">(route.kind === "start" ? "list" : "tool");
  const [opened, setOpened] = useState(0);
  const [lastAsked, setLastAsked] = useState(asked);
  const [last, setLast] = useState(route);
  const search = useRef<HTMLInputElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  if (last !== route) {
    setLast(route);
    if (route.kind === "call") setView("tool");
  }
  if (lastAsked !== asked) {
    setLastAsked(asked);
    setView("tool");
    setOpened(opened + 1);
  }
  const showList = (): void => {
    // In sight first, and before the next key: the text after the slash belongs to the search.
    flushSync(() => setView("list"));
    search.current?.focus();
    search.current?.select();
  };
  usePlainKey("/", showList);
  useEffect(() => {
    if (opened > 0) heading.current?.focus();
  }, [opened]);
  const showTool = (): void => {
    setView("tool");
    setOpened((count) => count + 1);
  };
  return { view, search, heading, showList, showTool };
}

/** Where the result is below the form, it would stay out of sight. */
function bringIntoSight(result: HTMLElement | null): void {
  if (!matchMedia("(width < 1080px)").matches) return;
  const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  result?.scrollIntoView({ behavior: isCalm ? "instant" : "smooth", block: "start" });
}

/** The gentlest tool first. */
function firstOf(tools: readonly ToolSummary[]): ToolSummary | undefined {
  return tools.find(({ manifest }) => manifest.name === "echo") ?? tools[0];
}
