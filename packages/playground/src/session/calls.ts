import type { ApprovalAnswer, ApprovalRequest, AuditEvent, JsonValue, LogEntry, ToolSummary } from "@keyhole/kernel";
import { isProof } from "@keyhole/kernel/policy";
import { Listeners } from "../client/listeners.ts";
import { type CallWithin, ClientFault, faultOf, type KernelClient } from "../client/kernel-client.ts";
import { collect } from "../run/collect.ts";
import { type ActiveRun, reduceRun, type RunAction, startRun } from "../run/run-state.ts";
import { Arguments } from "./arguments.ts";
import { headOf, isOpen, lineOf, type Origin } from "./call-head.ts";
import { bodyOf, kept, limits } from "./kept.ts";
import type { SessionStore } from "./session-store.ts";

export type Approve = (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalAnswer>;

export interface CallToStart {
  readonly tool: ToolSummary;
  readonly input: JsonValue;
  /** For a tool that takes one. */
  readonly body: Blob | undefined;
  readonly sessionId: string;
  readonly approve: Approve;
  readonly within?: CallWithin;
  /** Hears the events of the call, beside the page. */
  readonly onEvent?: (event: AuditEvent) => void;
}

/** A call as the page can show it. */
export type Shown =
  | { readonly state: "shown"; readonly run: ActiveRun }
  | { readonly state: "loading" }
  | { readonly state: "missing" }
  | { readonly state: "unreadable"; readonly fault: ClientFault };

/** A call of this tab, until the store has it. */
interface Live {
  origin: Origin;
  readonly client: KernelClient;
  readonly controller: AbortController;
  readonly arguments: Arguments;
  run: ActiveRun;
  events: AuditEvent[];
  logs: LogEntry[];
  /** Pieces that were given to the store. */
  pieces: number;
}

/** Between two looks at what a call sent: a tool can send more than a page can draw. */
const flushMs = 50;
/** Calls that stay in memory after their end: the calls that a person returns to. */
const recent = 8;

const loading: Shown = { state: "loading" };
const missing: Shown = { state: "missing" };

/** The calls of this tab, any number at a time, and those that the session has. */
export class Calls {
  readonly #store: SessionStore;
  readonly #tab: string;
  readonly #live = new Map<string, Live>();
  readonly #shown = new Map<string, Shown>();
  readonly #listeners = new Listeners();
  readonly subscribe = this.#listeners.subscribe;
  /** The state that the page shows. It stays in memory. */
  #current: string | undefined;

  constructor(store: SessionStore, tab: string) {
    this.#store = store;
    this.#tab = tab;
    store.subscribe(() => this.#follow());
  }

  /** @returns id of the call in the session */
  start(client: KernelClient, { tool, input, body, sessionId, approve, within, onEvent }: CallToStart): string {
    const id = crypto.randomUUID();
    const controller = new AbortController();
    const { place, address = null } = client;
    const collector = tool.manifest.output.kind === "stream" ? collect() : undefined;
    const run = startRun({ tool, input, startedAt: Date.now() }, collector?.byteLength);
    const origin = { id, tab: this.#tab, place, address, what: lineOf(input, tool.manifest.input), unkept: [] };
    const live: Live = {
      origin,
      client,
      controller,
      arguments: new Arguments(input),
      run,
      events: [],
      logs: [],
      pieces: 0,
    };
    this.#live.set(id, live);
    this.#show(live);
    this.#store.save({ head: headOf(run, origin), body: bodyOf(id, run), pieces: [] });
    const { name, version } = tool.manifest;
    client
      .call({
        tool: name,
        version,
        input,
        sessionId,
        within,
        body,
        approve: live.arguments.heardBy(approve),
        output: collector?.output,
        signal: controller.signal,
        onEvent: (event) => {
          onEvent?.(event);
          this.#soon(live, () => live.events.push(event));
        },
        onLog: (entry) => this.#soon(live, () => live.logs.push(entry)),
        onProgress: (progress) => this.#act(live, { type: "progress", progress }),
      })
      .then(
        (answer) => this.#end(live, { type: "done", ...answer, file: collector?.file() }),
        (error: unknown) => this.#end(live, { type: "broken", fault: faultOf(error) }),
      );
    return id;
  }

  /** Whether this tab made the call, and can cancel it. */
  isOwn(id: string): boolean {
    return this.#live.has(id);
  }

  cancel(id: string): void {
    const live = this.#live.get(id);
    if (live === undefined) return;
    this.#act(live, { type: "cancel" });
    live.controller.abort();
  }

  /** No more calls of the client arrive. */
  leave(client: KernelClient): void {
    for (const live of this.#live.values()) {
      if (live.client !== client || live.run.phase !== "running") continue;
      live.controller.abort();
      this.#end(live, { type: "broken", fault: leftFault });
    }
  }

  /**
   * Follows the calls that another program makes on the client's kernel, where it tells them.
   *
   * @returns the way to stop
   */
  watch(client: KernelClient): () => void {
    if (client.watch === undefined) return () => {};
    const watched = import("./watched.ts").then(
      ({ WatchedCalls }) => new WatchedCalls(this.#store, this.#tab, client, (id) => id === this.#current),
    );
    const stop = client.watch((events) => void watched.then((calls) => calls.take(events)));
    return () => {
      stop();
      void watched.then((calls) => calls.leave());
    };
  }

  shown(id: string): Shown {
    return this.#shown.get(id) ?? loading;
  }

  /** Has the call read, where it is not there yet. */
  open(id: string): void {
    this.#current = id;
    if (this.#shown.has(id)) return;
    this.#shown.set(id, loading);
    this.#store.read(id).then(
      (run) => this.#found(id, run === undefined ? missing : { state: "shown", run }),
      (error: unknown) => this.#found(id, { state: "unreadable", fault: faultOf(error) }),
    );
  }

  #found(id: string, shown: Shown): void {
    if (this.#live.has(id)) return;
    this.#shown.set(id, shown);
    this.#trim();
    this.#tell();
  }

  #act(live: Live, action: RunAction): void {
    live.run = reduceRun(live.run, action);
    this.#show(live);
  }

  /** Together with what else comes soon. */
  #soon(live: Live, note: () => void): void {
    if (live.events.length === 0 && live.logs.length === 0) setTimeout(() => this.#flush(live), flushMs);
    note();
  }

  #flush(live: Live): void {
    const { events, logs, origin } = live;
    if (events.length === 0 && logs.length === 0) return;
    [live.events, live.logs] = [[], []];
    const before = live.run;
    if (events.length > 0) live.run = reduceRun(live.run, { type: "events", events });
    if (logs.length > 0) live.run = reduceRun(live.run, { type: "logs", entries: logs });
    const isEdited = followEdits(live);
    this.#show(live);
    const piece = {
      id: origin.id,
      number: live.pieces++,
      events: events.slice(0, Math.max(0, limits.events - before.events.length)),
      logs: logs.slice(0, Math.max(0, limits.logs - before.logs.length)),
    };
    const isEmpty = piece.events.length === 0 && piece.logs.length === 0;
    const body = isEdited && { body: bodyOf(origin.id, live.run) };
    this.#store.save({ head: headOf(live.run, live.origin), ...body, pieces: isEmpty ? [] : [piece] });
  }

  #end(live: Live, action: RunAction): void {
    // The page turned away from it before.
    if (live.run.phase !== "running") return;
    this.#flush(live);
    live.run = reduceRun(live.run, action);
    followEdits(live);
    this.#show(live);
    const { id } = live.origin;
    const { body, unkept } = kept(id, live.run);
    live.origin = { ...live.origin, unkept };
    this.#store.save({ head: headOf(live.run, live.origin), body, pieces: [] });
  }

  #show(live: Live): void {
    this.#shown.set(live.origin.id, { state: "shown", run: live.run });
    this.#tell();
  }

  /** Other tabs write and delete calls, too. */
  #follow(): void {
    if (!this.#store.state().isLoaded) return;
    for (const [id, shown] of this.#shown) {
      const head = this.#store.head(id);
      if (this.#live.has(id)) continue;
      if (head === undefined && shown.state === "shown") this.#found(id, missing);
      else if (head !== undefined && isBehind(shown, head.events, isOpen(head.state))) this.#reread(id);
    }
    this.#trim();
  }

  #reread(id: string): void {
    this.#store.read(id).then(
      (run) => run && this.#found(id, { state: "shown", run }),
      () => {},
    );
  }

  /** Frees the memory of stored calls, which the page can read again. */
  #trim(): void {
    const ended = [...this.#live].filter(
      ([id, { run }]) => id !== this.#current && run.phase !== "running" && this.#store.isSaved(id),
    );
    for (const [id] of ended.slice(0, -recent)) {
      this.#live.delete(id);
      this.#shown.delete(id);
    }
    const others = [...this.#shown.keys()].filter((id) => id !== this.#current && !this.#live.has(id));
    for (const id of others.slice(0, -recent)) this.#shown.delete(id);
  }

  #tell(): void {
    this.#listeners.tell();
  }
}

/** @returns whether the call has other arguments from now on */
function followEdits(live: Live): boolean {
  const { run, origin } = live;
  const result = run.phase === "done" ? run.result : undefined;
  const callId = result?.callId ?? run.events[0]?.callId;
  if (typeof callId !== "string") return false;
  const proof: unknown = result?.proof;
  const input = live.arguments.of(callId, isProof(proof) ? proof : undefined);
  if (input === run.input) return false;
  live.run = reduceRun(run, { type: "edited", input });
  live.origin = { ...origin, what: input === null ? unknownInput : lineOf(input, run.tool.manifest.input) };
  return true;
}

const unknownInput = "Arguments of an approver elsewhere, which this page does not know";

const leftFault = new ClientFault(
  "left",
  "The page left the kernel before the call ended.",
  "The call was told to stop. It may have had its effects.",
);

function isBehind(shown: Shown, events: number, isRunning: boolean): boolean {
  if (shown.state === "missing") return true;
  if (shown.state !== "shown") return false;
  return shown.run.events.length !== Math.min(events, limits.events) || (shown.run.phase === "running") !== isRunning;
}
