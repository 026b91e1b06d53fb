import { useCallback, useEffect, useState } from "react";
import type { Governance, GovernanceState } from "../client/kernel-client.ts";

/** Mode and policy in force, as the page last heard. `undefined` where they cannot be seen. */
export function useGoverned(governance: Governance | undefined, openCalls: number): GovernanceState | undefined {
  const [seen, setSeen] = useState<{ readonly of: Governance; readonly state: GovernanceState }>();
  const read = useCallback(() => {
    if (governance === undefined) return;
    // The page shows an unreadable value where a person asks for it.
    governance.read().then(
      (state) => setSeen({ of: governance, state }),
      () => {},
    );
  }, [governance]);
  useEffect(() => governance?.subscribe?.(read), [governance, read]);
  // A call can change the mode, too.
  useEffect(read, [read, openCalls]);
  return seen !== undefined && seen.of === governance ? seen.state : undefined;
}
