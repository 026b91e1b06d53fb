import type { AuditEvent, CallResult, ToolSummary } from "@keyhole/kernel";
import type { ClientAnswer, ClientCall, KernelClient } from "../../packages/playground/src/client/kernel-client.ts";
import { Calls, type CallToStart } from "../../packages/playground/src/session/calls.ts";
import { deleteSession, SessionDatabase } from "../../packages/playground/src/session/database.ts";
import { type SessionPorts, SessionStore } from "../../packages/playground/src/session/session-store.ts";

export const hash = `blake3:${"0".repeat(64)}`;
const about = { name: "echo", version: "1.0.0", description: "Echo.", effects: [], determinism: "pure", tier: 0 };
const forms = { input: { type: "object" }, output: { kind: "json" } };
const manifest = { ...about, ...forms, source: "module", capabilities: [], bounds: {} };
const tool = { id: "echo@1.0.0", hash, codeHash: null, manifest } as unknown as ToolSummary;

function event(seq: number): AuditEvent {
  const rest = { v: 1, sessionId: null, traceparent: null, prev: hash, hash, payload: {} };
  return { ...rest, seq, id: `e${seq}`, time: "2026-11-20T12:00:00.000Z", type: "call.invoked", callId: "c" } as never;
}

export function success(data: unknown): CallResult {
  const meta = { durationMs: 9, queuedMs: 4, attempts: 1, networkRequests: 0, networkBytes: 0 };
  const end = { tool: tool.id, callId: "c", effects: [], hash, proof: {} };
  return { ...end, ok: true, data, meta: { ...meta, cached: false, warnings: [] } } as unknown as CallResult;
}

/** Tabs of one browser: one database, and a channel between them. */
export class Browser {
  readonly #listeners = new Map<string, (foreign: unknown) => void>();
  readonly #gone = new Map<string, PromiseWithResolvers<void>>();
  readonly told: unknown[] = [];
  hasStored = false;

  tab(name: string, ports: Partial<SessionPorts> = {}): { readonly store: SessionStore; readonly calls: Calls } {
    const store = new SessionStore({
      tab: name,
      open: SessionDatabase.open,
      destroy: deleteSession,
      hasStored: { read: () => this.hasStored, write: (has) => void (this.hasStored = has) },
      tell: (told) => {
        this.told.push(told);
        for (const [other, listener] of this.#listeners) if (other !== name) listener(told);
      },
      listen: (listener) => void this.#listeners.set(name, listener),
      whenGone: (other) => this.#goneOf(other).promise,
      ...ports,
    });
    return { store, calls: new Calls(store, name) };
  }

  close(name: string): void {
    this.#listeners.delete(name);
    this.#goneOf(name).resolve();
  }

  #goneOf(name: string): PromiseWithResolvers<void> {
    const known = this.#gone.get(name) ?? Promise.withResolvers<void>();
    this.#gone.set(name, known);
    return known;
  }
}

/** A kernel whose calls end when the test says so. */
export class FakeClient {
  readonly made: { readonly call: ClientCall; readonly answer: PromiseWithResolvers<ClientAnswer> }[] = [];

  readonly client: KernelClient = {
    place: "browser",
    tools: [tool],
    started: Promise.resolve({ tools: [tool], warning: undefined }),
    call: (call) => {
      const answer = Promise.withResolvers<ClientAnswer>();
      this.made.push({ call, answer });
      return answer.promise;
    },
    governance: undefined,
    close: () => {},
  };
}

export const toStart = (input: CallToStart["input"] = { message: "hello" }): CallToStart => ({
  tool,
  input,
  body: undefined,
  sessionId: "s",
  approve: () => Promise.reject(new Error("nobody is asked")),
});

/** A call that has ended and is stored. */
export async function finished(
  { store, calls }: ReturnType<Browser["tab"]>,
  data: unknown,
  events: readonly AuditEvent[] = [event(1), event(2)],
): Promise<string> {
  const fake = new FakeClient();
  const id = calls.start(fake.client, toStart());
  const [{ call, answer }] = fake.made as [(typeof fake.made)[number]];
  for (const each of events) call.onEvent(each);
  call.onLog({ level: "info", message: "a line" });
  answer.resolve({ result: success(data) });
  await ended(calls, id);
  await store.settled();
  return id;
}

export function ended(calls: Calls, id: string): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      const shown = calls.shown(id);
      if (shown.state === "shown" && shown.run.phase !== "running") resolve();
    };
    calls.subscribe(look);
    look();
  });
}
