import { visible } from "@keyhole/kernel";
import { lazy, type ReactNode, type RefObject, Suspense } from "react";
import type { Shown } from "../session/calls.ts";
import { Empty, Loading, Notice } from "../ui/Notice.tsx";
import type { RunViewProps } from "./RunView.tsx";

const BoundaryPicture = lazy(async () => ({ default: (await import("../ui/BoundaryPicture.tsx")).BoundaryPicture }));

/** Has its room before it is there. */
function Picture(): ReactNode {
  return (
    <div className="empty-picture">
      <Suspense>
        <BoundaryPicture />
      </Suspense>
    </div>
  );
}

/** Loaded while a person fills in the form: see `preload.ts`. */
const RunView = lazy(async () => ({ default: (await import("./RunView.tsx")).RunView }));

interface RunPanelProps extends Omit<RunViewProps, "run"> {
  /** `undefined`: no call is asked for. */
  readonly shown: Shown | undefined;
  /** The person chose a tool, and its form is beside this. */
  readonly hasForm: boolean;
  readonly ref: RefObject<HTMLElement | null>;
}

export function RunPanel({ shown, hasForm, ref, ...rest }: RunPanelProps): ReactNode {
  const isRunning = shown?.state === "shown" && shown.run.phase === "running";
  return (
    <section ref={ref} className="run" aria-label="The call" aria-busy={isRunning}>
      {shown?.state === "shown" ? (
        <Suspense fallback={<Loading>Loading…</Loading>}>
          <RunView key={shown.run.startedAt} run={shown.run} {...rest} />
        </Suspense>
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
          <Empty title="Nothing has run yet" picture={<Picture />}>
            <p>Fill in the form and press Run. The result, its proof and every event of the call appear here.</p>
          </Empty>
        )
      );
  }
}
