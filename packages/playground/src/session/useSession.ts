import { createContext, useCallback, useContext, useEffect, useSyncExternalStore } from "react";
import type { Session } from "./browser-session.ts";
import type { Shown } from "./calls.ts";
import type { SessionState } from "./session-state.ts";

const Context = createContext<Session | undefined>(undefined);

export const SessionProvider = Context.Provider;

export function useSession(): Session {
  const session = useContext(Context);
  if (session === undefined) throw new Error("There is no session around this part of the page.");
  return session;
}

export function useSessionState(): SessionState {
  const { store } = useSession();
  return useSyncExternalStore(store.subscribe, store.state);
}

/** One fact of the session. Its part of the page is drawn anew where the fact changes, and not at each event. */
export function useSessionFact<Fact extends string | number | boolean | undefined>(
  read: (state: SessionState) => Fact,
): Fact {
  const { store } = useSession();
  return useSyncExternalStore(store.subscribe, () => read(store.state()));
}

/** @returns `undefined` where no call is asked for */
export function useShown(id: string | undefined): Shown | undefined {
  const { calls } = useSession();
  const shown = useSyncExternalStore(
    calls.subscribe,
    useCallback(() => (id === undefined ? undefined : calls.shown(id)), [calls, id]),
  );
  useEffect(() => {
    if (id !== undefined) calls.open(id);
  }, [calls, id]);
  return shown;
}
