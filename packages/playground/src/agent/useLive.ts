import { useCallback, useSyncExternalStore } from "react";
import type { ActiveRun } from "../run/run-state.ts";
import { useSession } from "../session/useSession.ts";

/** The call while this tab has it in memory. It does not come from the store: the workbench keeps the call that it shows. */
export function useLive(id: string | undefined): ActiveRun | undefined {
  const { calls } = useSession();
  return useSyncExternalStore(
    calls.subscribe,
    useCallback(() => {
      const shown = id === undefined ? undefined : calls.shown(id);
      return shown?.state === "shown" ? shown.run : undefined;
    }, [calls, id]),
  );
}
