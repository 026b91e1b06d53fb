import {
  type AuditEvent,
  type CallError,
  type CallResult,
  isToolName,
  type JsonObject,
  readVersionedId,
  terminalTypes,
  type ToolSummary,
} from "@keyhole/kernel";
import { failureOf, isKnown, readResult, readTools, type Verification } from "@keyhole/worker-host/edge-protocol";
import { ClientFault, type KernelClient } from "../client/kernel-client.ts";
import { type ActiveRun, reduceRun, startRun } from "../run/run-state.ts";
import { headOf, isOpen, type Origin } from "./call-head.ts";
import { bodyOf, kept, limits } from "./kept.ts";
import { isWatched, watchedId } from "./names.ts";
import type { SessionStore } from "./session-store.ts";

interface Watched {
  readonly origin: Origin;
  run: ActiveRun;
  pieces: number;
}

/** Calls without an end that the page follows at once. A log can begin any number. */
const mostOpen = 1_000;
/** Ended calls of watched kernels that the session keeps: a program makes calls all day. */
const mostEnded = 10_000;
/** One deletion for many calls: the share of them that are too many before it. */
const slack = 0.05;

/** Calls that another program makes on a kernel, as its log tells them. Each becomes a call of the session. */
export class WatchedCalls {
  readonly #store: SessionStore;
  readonly #tab: string;
  readonly #client: KernelClient;
  readonly #isShown: (id: string) => boolean;
  readonly #most: number;
  readonly #open = new Map<string, Watched>();
  /** The ids of ended calls, the oldest first. */
  readonly #ended: string[];

  /**
   * @param isShown whether a person looks at the call: it is not deleted to make room
   * @param most ended calls that stay
   */
  constructor(
    store: SessionStore,
    tab: string,
    client: KernelClient,
    isShown: (id: string) => boolean,
    most: number = mostEnded,
  ) {
    this.#store = store;
    this.#tab = tab;
    this.#client = client;
    this.#isShown = isShown;
    this.#most = most;
    const earlier = store.state().heads.filter((head) => isWatched(head) && !isOpen(head.state));
    this.#ended = earlier.map(({ id }) => id).toReversed();
  }

  take(events: readonly AuditEvent[]): void {
    const byCall = Map.groupBy(events, ({ callId }) => callId);
    for (const [callId, own] of byCall) if (callId !== null) this.#takeCall(callId, own);
    this.#makeRoom();
  }

  /** Ends the watch: the page sees no later events of the calls. */
  leave(): void {
    for (const [callId, watched] of this.#open) {
      watched.run = reduceRun(watched.run, { type: "broken", fault: leftFault });
      this.#save(callId, watched, []);
    }
    this.#open.clear();
  }

  #makeRoom(): void {
    const tooMany = this.#ended.length - this.#most;
    if (tooMany <= this.#most * slack) return;
    const oldest = this.#ended.splice(0, tooMany);
    const kept = oldest.filter(this.#isShown);
    this.#ended.unshift(...kept);
    void this.#store.remove(oldest.filter((id) => !kept.includes(id)));
  }

  #takeCall(callId: string, events: readonly AuditEvent[]): void {
    const watched = this.#open.get(callId) ?? this.#begin(callId, events[0]);
    if (watched === undefined) return;
    const before = watched.run.events.length;
    watched.run = reduceRun(watched.run, { type: "events", events });
    const end = events.find(({ type }) => terminalTypes.includes(type));
    if (end !== undefined) {
      const result = resultOf(end, watched.run);
      watched.run = reduceRun(watched.run, { type: "done", result, verification: ofLog, file: undefined });
      this.#open.delete(callId);
      this.#ended.push(watched.origin.id);
    }
    this.#save(callId, watched, events.slice(0, Math.max(0, limits.events - before)));
  }

  /** Only from its first event on: of a call that ran before there is no whole picture. */
  #begin(callId: string, first: AuditEvent | undefined): Watched | undefined {
    if (first?.type !== "call.invoked" || !isKnown(first) || this.#open.size >= mostOpen) return undefined;
    const { tool, caller } = first.payload;
    const { place, address = null } = this.#client;
    const time = Date.parse(first.time);
    const what = `Called by ${caller}`.slice(0, mostOfCaller);
    const watched: Watched = {
      origin: { id: watchedId(callId), tab: this.#tab, place, address, what, unkept: [notInLog] },
      run: startRun(
        { tool: toolOf(tool, this.#client.tools), input: null, startedAt: Number.isFinite(time) ? time : Date.now() },
        undefined,
      ),
      pieces: 0,
    };
    this.#open.set(callId, watched);
    return watched;
  }

  #save(callId: string, { run, origin, pieces }: Watched, events: readonly AuditEvent[]): void {
    const { body } = run.phase === "running" ? { body: bodyOf(origin.id, run) } : kept(origin.id, run);
    const piece = { id: origin.id, number: pieces, events, logs: [] };
    const watched = this.#open.get(callId);
    if (watched !== undefined) watched.pieces++;
    this.#store.save({ head: headOf(run, origin), body, pieces: events.length === 0 ? [] : [piece] });
  }
}

const leftFault = new ClientFault(
  "left",
  "The page stopped watching before the call ended.",
  "The call goes on in its program.",
);

const mostOfCaller = 300;
const mostOfName = 200;
const notInLog =
  "The page watched this call from its log. The log has digests of the input and the result, and not the values.";

/** The manifest of a tool; absent for a tool that was registered after the page attached. */
function toolOf(name: string, tools: readonly ToolSummary[]): ToolSummary {
  const found = tools.find(({ id, manifest }) => id === name || manifest.name === name);
  if (found !== undefined) return found;
  const id = name.slice(0, mostOfName);
  const { name: plain, version } = readVersionedId(id);
  const manifest: JsonObject = {
    // A program can call anything by any name.
    name: isToolName(plain) ? plain : "unknown",
    version: version || "0.0.0",
    description: "",
    tier: 0,
    effects: [],
    determinism: "nondeterministic",
    capabilities: [],
    source: "module",
    bounds: {},
    input: {},
    output: { kind: "json" },
  };
  return readTools({ tools: [{ id, hash: "", codeHash: null, manifest }] }).tools[0]!;
}

/** Nothing of the answer is in the log but its digest. */
const ofLog: Verification = {
  verdict: "inconclusive",
  checks: [
    { what: "result", outcome: "skipped", reason: "The page read how the call ended from the log of its kernel." },
  ],
};

/** How the call ended, as its log says it. */
function resultOf(end: AuditEvent, { events, tool }: ActiveRun): CallResult {
  const failure = failureOf(end, events);
  if (failure !== undefined && !failure.ok) {
    const { code } = failure.error;
    const hint = "The log has a digest of the message, and not its words.";
    return { ...failure, error: { ...failure.error, message: `The call ended with ${code}.`, hint } };
  }
  const [first] = events;
  const started = Date.parse(first?.time ?? end.time);
  const ended = {
    tool: tool.id,
    callId: end.callId ?? "",
    effects: [],
    meta: {
      durationMs: Math.max(0, Date.parse(end.time) - started) || 0,
      networkRequests: 0,
      networkBytes: 0,
      cached: false,
      warnings: [],
    },
  };
  if (end.type !== "tool.completed" || !isKnown(end)) return readResult({ ...ended, ok: false, error: lostError });
  const { outputHash, effects } = end.payload;
  return readResult({ ...ended, ok: true, effects, data: null, hash: outputHash, proof: {} });
}

const lostError: CallError = {
  code: "INTERNAL",
  message: "The call has no end that this page can read.",
  hint: "Its kernel was closed before the end, or is of another version.",
  operatorHint: "",
  details: null,
  retryable: false,
};
