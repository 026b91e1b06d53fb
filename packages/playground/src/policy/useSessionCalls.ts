import { readVersionedId } from "@keyhole/kernel";
import { isProof } from "@keyhole/kernel/policy";
import type { ActiveRun } from "../run/run-state.ts";
import { type CallHead, isOpen } from "../session/call-head.ts";
import { isWatched } from "../session/names.ts";
import type { SessionStore } from "../session/session-store.ts";
import { useReading } from "../session/useReading.ts";
import type { SessionCall } from "./simulation.ts";

export interface SessionCalls {
  readonly calls: readonly SessionCall[];
  /** Calls of this browser that are not among them: too many, unreadable, or without a known input. */
  readonly left: number;
  readonly isLoading: boolean;
}

/** The latest; a policy is tried on each of them at every pause of the keyboard. */
const mostCalls = 1_000;

const none: SessionCalls = { calls: [], left: 0, isLoading: true };

/** Every call that has ended, with its input, as far as the session keeps it. */
export function useSessionCalls(): SessionCalls {
  return useReading(none, readingOf);
}

function readingOf(store: SessionStore, leaving: AbortSignal): () => Promise<SessionCalls> {
  let known = new Map<string, SessionCall | undefined>();
  return async () => {
    const { heads, isLoaded } = store.state();
    const ended = heads.filter(({ state }) => !isOpen(state));
    const before = known;
    known = new Map();
    const withInput = ended.filter((head) => !isWatched(head));
    for (const head of withInput.slice(0, mostCalls)) {
      if (leaving.aborted) break;
      known.set(head.id, before.has(head.id) ? before.get(head.id) : await callOf(head, store.read(head.id)));
    }
    const calls = [...known.values()].filter((call) => call !== undefined);
    return { calls, left: ended.length - calls.length, isLoading: !isLoaded };
  };
}

/** Reads stored calls. Omits and counts the damaged ones. */
async function callOf(head: CallHead, reading: Promise<ActiveRun | undefined>): Promise<SessionCall | undefined> {
  const run = await reading.catch(() => undefined);
  if (run === undefined || run.input === null || readVersionedId(run.tool.id).name !== run.tool.manifest.name)
    return undefined;
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
