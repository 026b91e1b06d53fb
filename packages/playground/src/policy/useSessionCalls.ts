import { readVersionedId } from "@keyhole/kernel";
import { isProof } from "@keyhole/kernel/policy";
import { useEffect, useRef, useState } from "react";
import type { ActiveRun } from "../run/run-state.ts";
import { type CallHead, isOpen } from "../session/call-head.ts";
import { useSession, useSessionState } from "../session/useSession.ts";
import type { SessionCall } from "./simulation.ts";

export interface SessionCalls {
  readonly calls: readonly SessionCall[];
  /** Calls of this browser that are not among them: too many, or unreadable. */
  readonly left: number;
  readonly isLoading: boolean;
}

/** The latest; a policy is tried on each of them at every pause of the keyboard. */
const mostCalls = 1_000;

/** Every call that has ended, with its input, as far as the session keeps it. */
export function useSessionCalls(): SessionCalls {
  const { store } = useSession();
  const { heads, isLoaded } = useSessionState();
  const known = useRef(new Map<string, SessionCall | undefined>());
  const [calls, setCalls] = useState<SessionCalls>({ calls: [], left: 0, isLoading: true });
  useEffect(() => {
    let isLeft = false;
    const read = async (): Promise<void> => {
      const ended = heads.filter(({ state }) => !isOpen(state));
      const found: SessionCall[] = [];
      for (const head of ended.slice(0, mostCalls)) {
        if (!known.current.has(head.id)) known.current.set(head.id, await callOf(head, store.read(head.id)));
        const call = known.current.get(head.id);
        if (call !== undefined) found.push(call);
        if (isLeft) return;
      }
      setCalls({ calls: found, left: ended.length - found.length, isLoading: !isLoaded });
    };
    void read();
    return () => {
      isLeft = true;
    };
  }, [heads, isLoaded, store]);
  return calls;
}

/** Reads stored calls. Omits and counts the damaged ones. */
async function callOf(head: CallHead, reading: Promise<ActiveRun | undefined>): Promise<SessionCall | undefined> {
  const run = await reading.catch(() => undefined);
  if (run === undefined || readVersionedId(run.tool.id).name !== run.tool.manifest.name) return undefined;
  const invoked = run.events.find(({ type }) => type === "call.invoked");
  const caller = invoked === undefined ? undefined : callerOf(invoked.payload);
  const proof = run.phase === "done" ? run.result.proof : undefined;
  return {
    id: head.id,
    what: head.what,
    manifest: run.tool.manifest,
    input: run.input,
    time: new Date(head.startedAt).toISOString(),
    ...(caller !== undefined && { caller }),
    ...(typeof invoked?.sessionId === "string" && { sessionId: invoked.sessionId }),
    ...(isProof(proof) && { mode: proof.mode }),
  };
}

function callerOf(payload: unknown): string | undefined {
  if (typeof payload !== "object" || payload === null || !("caller" in payload)) return undefined;
  return typeof payload.caller === "string" ? payload.caller : undefined;
}
