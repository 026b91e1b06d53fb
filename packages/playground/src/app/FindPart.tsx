import { lazy, type ReactNode, Suspense } from "react";
import type { FindProps } from "../actions/FindDialog.tsx";
import { ErrorBoundary } from "../ui/ErrorBoundary.tsx";

const FindDialog = lazy(async () => ({ default: (await import("../actions/FindDialog.tsx")).FindDialog }));

/** The search over tools, calls and actions. It loads once the kernel runs, or when a person asks for it. */
export function FindPart(props: FindProps): ReactNode {
  return (
    <ErrorBoundary part="The search">
      <Suspense>
        <FindDialog {...props} />
      </Suspense>
    </ErrorBoundary>
  );
}
