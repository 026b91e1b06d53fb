import type { AuditEvent } from "@keyhole/kernel";
import { type ReactNode, useEffect, useMemo, useState } from "react";
import { type Break, breaksOf, noBreaks, recomputeAll } from "./chain.ts";

export interface Chain {
  readonly breaks: readonly Break[];
  readonly checked: number;
}

/** Links at once, contents in slices. */
export function useChain(events: readonly AuditEvent[]): Chain {
  const links = useMemo(() => breaksOf(events), [events]);
  const [contents, setContents] = useState<Chain & { readonly of: readonly AuditEvent[] }>();
  useEffect(() => {
    const controller = new AbortController();
    const tell = (checked: number, breaks: readonly Break[]): void => setContents({ of: events, checked, breaks });
    void recomputeAll(events, tell, controller.signal);
    return () => controller.abort();
  }, [events]);
  const isOfThese = contents?.of === events;
  const found = isOfThese ? contents.breaks : noBreaks;
  // The same list until there is another break: another list makes every row anew.
  const breaks = useMemo(() => (found.length === 0 ? links : [...links, ...found]), [links, found]);
  return { breaks, checked: isOfThese ? contents.checked : 0 };
}

export function ChainText({
  chain,
  events,
}: {
  readonly chain: Chain;
  readonly events: readonly AuditEvent[];
}): ReactNode {
  const { breaks, checked } = chain;
  const [first] = breaks;
  if (events.length === 0) return null;
  if (first !== undefined)
    return (
      <output className="wf-whole" data-broken>
        chain broken at {events[first.index]?.seq ?? "its end"}
      </output>
    );
  if (checked < events.length)
    return (
      <span className="wf-whole">
        {checked.toLocaleString("en")} of {events.length.toLocaleString("en")} hashes recomputed
      </span>
    );
  return <output className="wf-whole">{events.length.toLocaleString("en")} hashes recomputed, no break</output>;
}
