import type { ToolSummary } from "@keyhole/kernel";
import { useCallback, useEffect, useState } from "react";
import { type ClientFault, faultOf, type KernelClient, type Place } from "../client/kernel-client.ts";

/** What the page knows of the kernel that it is to talk to. */
export type Connection =
  | { readonly state: "connecting" }
  | { readonly state: "ready"; readonly client: KernelClient; readonly tools: readonly ToolSummary[] }
  | { readonly state: "failed"; readonly fault: ClientFault };

/** Rejects with a {@link ClientFault}. */
export type Connect = (place: Place) => Promise<KernelClient>;

/** Connects when the place changes, or again when asked to, and closes what it leaves. */
export function useKernel(place: Place, connect: Connect): { readonly connection: Connection; readonly reconnect: () => void } {
  const [attempt, setAttempt] = useState(0);
  const [connection, setConnection] = useState<Connection>({ state: "connecting" });

  useEffect(() => {
    let left = false;
    let client: KernelClient | undefined;
    setConnection({ state: "connecting" });
    const open = async (): Promise<void> => {
      client = await connect(place);
      if (left) return client.close();
      const tools = await client.tools();
      if (!left) setConnection({ state: "ready", client, tools });
    };
    open().catch((error: unknown) => {
      client?.close();
      if (!left) setConnection({ state: "failed", fault: faultOf(error) });
    });
    return () => {
      left = true;
      client?.close();
    };
  }, [place, connect, attempt]);

  return { connection, reconnect: useCallback(() => setAttempt((count) => count + 1), []) };
}
