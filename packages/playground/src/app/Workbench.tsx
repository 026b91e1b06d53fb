import type { ToolSummary } from "@keyhole/kernel";
import { type ReactNode, type RefObject, useEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { ApprovalDialog } from "../approval/ApprovalDialog.tsx";
import { type Approvals, useApprovals } from "../approval/useApprovals.ts";
import type { KernelClient } from "../client/kernel-client.ts";
import { RunPanel } from "../run/RunPanel.tsx";
import { type Runner, useRun } from "../run/useRun.ts";
import { Button } from "../ui/Button.tsx";
import { ErrorBoundary } from "../ui/ErrorBoundary.tsx";
import { SearchState } from "./SearchSettings.tsx";
import { ToolList } from "./ToolList.tsx";
import { ToolPanel } from "./ToolPanel.tsx";
import type { Connection } from "./useKernel.ts";
import { useSearchKey } from "./useSearchKey.ts";

interface WorkbenchProps {
  readonly connection: Extract<Connection, { state: "ready" }>;
  readonly sessionId: string;
  readonly onOpenPolicy: () => void;
  readonly onOpenSearch: () => void;
  readonly onReconnect: () => void;
}

/** A kernel that is connected: its tools, the one that is chosen, and its call. */
export function Workbench({
  connection,
  sessionId,
  onOpenPolicy,
  onOpenSearch,
  onReconnect,
}: WorkbenchProps): ReactNode {
  const { client, tools } = connection;
  const [selected, setSelected] = useState<string | undefined>(() => firstOf(tools)?.id);
  const { view, search, heading, showList, showTool } = usePanes();
  const { run, start, cancel, clear, result, question, place } = useCalls(client, sessionId);
  const tool = tools.find(({ id }) => id === selected);

  const select = (id: string): void => {
    if (id === selected) return;
    setSelected(id);
    clear();
  };
  return (
    <main className="bench" data-view={view}>
      <ErrorBoundary part="The list of tools" resetKey={tools}>
        <ToolList
          tools={tools}
          selected={selected}
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
        {tool !== undefined && (
          <ToolPanel
            tool={tool}
            headingRef={heading}
            isRunning={run.phase === "running"}
            isCancelling={run.phase === "running" && run.cancelling}
            onRun={(input, body) => start(tool, input, body)}
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

/** The call of the person, its result on the page, and what it asks the person. */
function useCalls(
  client: KernelClient,
  sessionId: string,
): Runner & Pick<Approvals, "question" | "place"> & { readonly result: RefObject<HTMLElement | null> } {
  const { question, place, approve } = useApprovals();
  const { run, start, cancel, clear } = useRun(client, sessionId, approve);
  const result = useRef<HTMLElement>(null);
  return {
    run,
    start(tool, input, body) {
      start(tool, input, body);
      bringIntoSight(result.current);
    },
    cancel,
    clear,
    result,
    question,
    place,
  };
}

/** The list of tools and the tool: on a narrow screen only one of them is in sight. Who shows one takes the focus there. */
function usePanes(): {
  readonly view: "list" | "tool";
  readonly search: RefObject<HTMLInputElement | null>;
  readonly heading: RefObject<HTMLHeadingElement | null>;
  readonly showList: () => void;
  readonly showTool: () => void;
} {
  const [view, setView] = useState<"list" | "tool">("list");
  const [opened, setOpened] = useState(0);
  const search = useRef<HTMLInputElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const showList = (): void => {
    // In sight first, and before the next key: what is typed after the slash belongs to the search.
    flushSync(() => setView("list"));
    search.current?.focus();
    search.current?.select();
  };
  useSearchKey(showList);
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
  // The header stays in sight above it, in one line or in two.
  const header = document.querySelector<HTMLElement>(".top");
  if (result && header) result.style.scrollMarginTop = `${header.offsetHeight + 8}px`;
  result?.scrollIntoView({ behavior: isCalm ? "instant" : "smooth", block: "start" });
}

/** The gentlest tool first. */
function firstOf(tools: readonly ToolSummary[]): ToolSummary | undefined {
  return tools.find(({ manifest }) => manifest.name === "echo") ?? tools[0];
}
