import { useCallback, useEffect, useState } from "react";
import type { Governance, GovernanceState } from "../client/kernel-client.ts";
import { isOpen } from "../session/call-head.ts";
import { Paced } from "../session/paced.ts";
import { useSession } from "../session/useSession.ts";

/** Between two reads because of calls: a watched kernel makes more calls than a page can ask after. */
const readMs = 300;

/** Mode and policy in force, as the page last heard. `undefined` where they cannot be seen. */
export function useGoverned(governance: Governance | undefined): GovernanceState | undefined {
  const { store } = useSession();
  const [seen, setSeen] = useState<{
    readonly of: Governance;
    readonly state: GovernanceState;
    readonly text: string;
  }>();
  const read = useCallback(async (): Promise<void> => {
    if (governance === undefined) return;
    // The page shows an unreadable value where a person asks for it.
    const state = await governance.read().catch(() => undefined);
    if (state === undefined) return;
    const text = JSON.stringify(state);
    setSeen((before) => (before?.of === governance && before.text === text ? before : { of: governance, state, text }));
  }, [governance]);
  useEffect(() => governance?.subscribe?.(() => void read()), [governance, read]);
  useEffect(() => {
    const reading = new Paced(read, readMs);
    const open = (): number => store.state().heads.filter(({ state }) => isOpen(state)).length;
    let before = open();
    reading.ask();
    // A call can change the mode, too.
    const stop = store.subscribe(() => {
      const now = open();
      if (now !== before) reading.ask();
      before = now;
    });
    return () => {
      stop();
      reading.stop();
    };
  }, [read, store]);
  return seen !== undefined && seen.of === governance ? seen.state : undefined;
}
