import type { ToolSummary } from "@keyhole/kernel";
import { useCallback, useEffect, useMemo, useState } from "react";
import { type ClientFault, faultOf, type KernelClient, type Place } from "../client/kernel-client.ts";

/** The page's knowledge of the kernel that it talks to. */
export type Connection =
  | { readonly state: "connecting" }
  /** Tools and forms can be used; `isStarting`: the kernel does not answer yet. */
  | {
      readonly state: "ready";
      readonly isStarting: boolean;
      readonly client: KernelClient;
      readonly tools: readonly ToolSummary[];
      readonly warning: string | undefined;
    }
  | { readonly state: "failed"; readonly fault: ClientFault };

/** Rejects with a {@link ClientFault}. */
export type Connect = (place: Place) => Promise<KernelClient>;

const connecting: Connection = { state: "connecting" };

/** A tool that is the same stays the same object, and so does the list: forms and editors stand on them. */
function merged(known: readonly ToolSummary[], now: readonly ToolSummary[]): readonly ToolSummary[] {
  const texts = new Map(known.map((tool) => [JSON.stringify(tool), tool]));
  const kept = now.map((tool) => texts.get(JSON.stringify(tool)) ?? tool);
  return kept.length === known.length && kept.every((tool, index) => tool === known[index]) ? known : kept;
}

/** Connects when the place changes, or again when asked to, and closes what it leaves. */
export function useKernel(
  place: Place,
  connect: Connect,
): { readonly connection: Connection; readonly reconnect: () => void } {
  const [attempt, setAttempt] = useState(0);
  // A new object for every attempt: the page ignores the outcome of an older one.
  const wanted = useMemo(() => ({ place, attempt }), [place, attempt]);
  const [reached, setReached] = useState({ wanted, connection: connecting });

  useEffect(() => {
    let left = false;
    let client: KernelClient | undefined;
    let stop: (() => void) | undefined;
    const open = async (): Promise<void> => {
      client = await connect(wanted.place);
      if (left) return client.close();
      const known = { state: "ready", client, tools: client.tools } as const;
      setReached({ wanted, connection: { ...known, isStarting: true, warning: undefined } });
      const { tools, warning } = await client.started;
      if (left) return;
      let shown = client.tools;
      const show = (now: readonly ToolSummary[]): void => {
        shown = merged(shown, now);
        setReached({ wanted, connection: { ...known, isStarting: false, tools: shown, warning } });
      };
      show(tools);
      stop = client.watchTools?.(show);
    };
    open().catch((error: unknown) => {
      client?.close();
      if (!left) setReached({ wanted, connection: { state: "failed", fault: faultOf(error) } });
    });
    return () => {
      left = true;
      stop?.();
      client?.close();
    };
  }, [wanted, connect]);

  return {
    connection: reached.wanted === wanted ? reached.connection : connecting,
    reconnect: useCallback(() => setAttempt((count) => count + 1), []),
  };
}
