import { useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { storedPolicy, watchStoredPolicy } from "../client/saved-policy.ts";
import { readPolicy } from "./edit.ts";
import { formatDocument } from "./format.ts";

/** A policy that another tab applied: later pages start with it, this one does not. */
export interface Elsewhere {
  readonly text: string;
  /** When this tab heard of it; `undefined` where it was there before. */
  readonly at: Date | undefined;
}

/** @param inForce the policy of this tab, as text */
export function useElsewhere(inForce: string): Elsewhere | undefined {
  const stored = useSyncExternalStore(watchStoredPolicy, storedPolicy);
  const [at, setAt] = useState<Date>();
  useEffect(() => watchStoredPolicy(() => setAt(new Date())), []);
  const text = useMemo(() => textOf(stored), [stored]);
  return text === undefined || text === inForce ? undefined : { text, at };
}

/** `undefined` where nothing is stored that a page would start with. */
function textOf(stored: string | undefined): string | undefined {
  if (stored === undefined || !readPolicy(stored).ok) return undefined;
  return formatDocument(JSON.parse(stored));
}
