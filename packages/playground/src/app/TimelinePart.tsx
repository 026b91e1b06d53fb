import { lazy, type ReactNode, Suspense } from "react";
import { ErrorBoundary } from "../ui/ErrorBoundary.tsx";
import { Loading } from "../ui/Notice.tsx";
import type { Go } from "./useRoute.ts";

const TimelineScreen = lazy(async () => {
  const { TimelineScreen: screen } = await import("../timeline/TimelineScreen.tsx");
  return { default: screen };
});

/** The timeline of a call or of the session. It loads when the person opens it. */
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
