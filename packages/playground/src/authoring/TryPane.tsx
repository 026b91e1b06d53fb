import { type JsonValue, visible } from "@keyhole/kernel";
import { type ReactNode, useRef, useState } from "react";
import { CallForm } from "../form/CallForm.tsx";
import { useForesee } from "../form/useForesee.ts";
import { RunPanel } from "../run/RunPanel.tsx";
import { useSession, useShown } from "../session/useSession.ts";
import { Button } from "../ui/Button.tsx";
import { Empty, Notice } from "../ui/Notice.tsx";
import type { BuildScreenProps } from "./props.ts";
import type { Build } from "./useBuild.ts";

interface TryPaneProps extends Omit<BuildScreenProps, "link" | "onLinkTaken"> {
  readonly build: Build;
}

/** The tool as the kernel has it: its form, and the last call of it from here. */
export function TryPane({ client, governed, approve, sessionId, build, onOpenPolicy }: TryPaneProps): ReactNode {
  const { calls } = useSession();
  const [call, setCall] = useState<string>();
  const shown = useShown(call);
  const result = useRef<HTMLElement>(null);
  const { tool, refusal } = build;
  const foresee = useForesee({ client, sessionId, governed, tool });
  const start = (input: JsonValue, body?: Blob): void => {
    if (tool !== undefined) setCall(calls.start(client, { tool, input, body, sessionId, approve }));
  };
  const run = shown?.state === "shown" ? shown.run : undefined;
  return (
    <section className="pane build-try" aria-label="Try it">
      <h2>Try it</h2>
      <p className="hint">In an isolate of its own, under the policy in force.</p>
      {refusal !== undefined && (
        <Notice tone="bad" title="The kernel does not take the tool" urgent>
          <p>{visible(refusal)}</p>
        </Notice>
      )}
      {client.register === undefined && (
        <Empty title="This kernel takes no tools from here">
          <p>Choose the kernel in the browser. It registers what you pack.</p>
        </Empty>
      )}
      {client.register !== undefined && <NotYet build={build} />}
      {tool !== undefined && (
        <CallForm
          key={tool.hash}
          tool={tool}
          seed={run?.input ?? undefined}
          foresee={foresee}
          isRunning={run?.phase === "running"}
          isCancelling={run?.phase === "running" && run.cancelling}
          onRun={start}
          onCancel={() => call !== undefined && calls.cancel(call)}
        />
      )}
      {call !== undefined && (
        <RunPanel
          ref={result}
          shown={shown}
          id={call}
          hasForm
          governance={client.governance}
          governed={governed}
          onOpenPolicy={onOpenPolicy}
          onReconnect={() => {}}
        />
      )}
    </section>
  );
}

/** The rights that a name brings stand here before a stranger's tool gets it. */
function NotYet({ build: { packed, isUngiven, give } }: Pick<TryPaneProps, "build">): ReactNode {
  if (!isUngiven || packed?.ok !== true) return null;
  const name = visible(packed.package.manifest.name);
  return (
    <Notice tone="warn" title="The kernel does not have this tool">
      <p>
        Once it does, other tools can call it, and the grants of the policy for <code>{name}</code> are its own.
      </p>
      <Button onPress={give}>Give it to the kernel</Button>
    </Notice>
  );
}
