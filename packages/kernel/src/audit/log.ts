import { uuidv7 } from "../id/uuid.ts";
import type { Clock } from "../isolate/clock.ts";
import { limits } from "../limits.ts";
import { deepFreeze } from "../normalize/freeze.ts";
import { eventHash, firstPrev } from "./chain.ts";
import { type AuditEvent, type AuditPayloads, type AuditType, terminalTypes } from "./event.ts";
import type { AuditSink } from "./sink.ts";

/** What an event belongs to; all `null` for events of the kernel itself. */
export interface EventScope {
  readonly callId: string | null;
  readonly sessionId: string | null;
  readonly traceparent: string | null;
  readonly onEvent?: ((event: AuditEvent) => void) | undefined;
}

export const kernelScope: EventScope = { callId: null, sessionId: null, traceparent: null };

/** Thrown to the pipeline when the sink failed: from then on nothing runs. */
export class AuditUnavailable extends Error {
  constructor(cause: unknown) {
    super("The audit log cannot be written.", { cause });
    this.name = "AuditUnavailable";
  }
}

interface Pending {
  readonly event: AuditEvent;
  readonly onEvent: EventScope["onEvent"];
}

/** The chain in front of a sink. `record` orders and chains at once; `flush` makes durable. Batches reach the sink one at a time, in order. */
export class AuditLog {
  readonly #sink: AuditSink;
  readonly #clock: Clock;
  readonly #listeners = new Set<(event: AuditEvent) => void>();
  #pending: Pending[] = [];
  #writing: Promise<void> | undefined;
  #failure: AuditUnavailable | undefined;
  #seq: number;
  #prev: string;

  private constructor(sink: AuditSink, clock: Clock, last: AuditEvent | undefined) {
    this.#sink = sink;
    this.#clock = clock;
    this.#seq = last ? last.seq + 1 : 0;
    this.#prev = last?.hash ?? firstPrev;
  }

  /** Goes on after the sink's last event and ends every call that a crash left open. */
  static async open(sink: AuditSink, clock: Clock): Promise<AuditLog> {
    const last = await sink.last();
    const log = new AuditLog(sink, clock, last);
    if (last) {
      for (const event of await openCalls(sink, last.seq)) {
        log.record("tool.lost", { ...event, onEvent: undefined }, { lastSeq: last.seq });
      }
      await log.flush();
    }
    return log;
  }

  record<Type extends AuditType>(type: Type, scope: EventScope, payload: AuditPayloads[Type]): void {
    const nowMs = this.#clock.now();
    const { callId, sessionId, traceparent } = scope;
    const time = new Date(nowMs).toISOString();
    const body = {
      v: 1,
      seq: this.#seq,
      id: uuidv7(nowMs),
      time,
      type,
      callId,
      sessionId,
      traceparent,
      payload,
      prev: this.#prev,
    } as const;
    // Sinks, listeners and results hold the same objects.
    const event = deepFreeze({ ...body, hash: eventHash(body) }) as unknown as AuditEvent;
    this.#seq++;
    this.#prev = event.hash;
    this.#pending.push({ event, onEvent: scope.onEvent });
  }

  /**
   * Durable when it returns, or when the returned promise resolves.
   *
   * @throws AuditUnavailable (or rejects with it) when the sink failed, now or earlier.
   */
  flush(): void | Promise<void> {
    if (this.#failure) throw this.#failure;
    if (this.#writing) return this.#writing.then(() => this.flush());
    if (this.#pending.length === 0) return;
    const batch = this.#pending;
    this.#pending = [];
    let written: Promise<unknown> | undefined;
    try {
      written = waitFor(this.#sink.append(batch.map(({ event }) => event)));
    } catch (error) {
      throw this.#fail(error);
    }
    if (written === undefined) return this.#publish(batch);
    this.#writing = written.then(
      () => {
        this.#writing = undefined;
        this.#publish(batch);
      },
      (error: unknown) => {
        this.#writing = undefined;
        throw this.#fail(error);
      },
    );
    return this.#writing;
  }

  async read(fromSeq: number, limit: number): Promise<readonly AuditEvent[]> {
    return this.#sink.read(fromSeq, limit);
  }

  subscribe(listener: (event: AuditEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #fail(cause: unknown): AuditUnavailable {
    this.#failure ??= new AuditUnavailable(cause);
    return this.#failure;
  }

  #publish(batch: readonly Pending[]): void {
    for (const { event, onEvent } of batch) {
      notify(onEvent, event);
      for (const listener of this.#listeners) notify(listener, event);
    }
  }
}

/** A promise, or whatever else has a `then`. Anything else that a sink returns, such as the length that `push` gives, means that the batch is kept. */
function waitFor(written: unknown): Promise<unknown> | undefined {
  const isThenable = typeof written === "object" && written !== null && "then" in written;
  return isThenable ? Promise.resolve(written) : undefined;
}

/** A listener is the embedder's: its exception must not end somebody's call. */
function notify(listener: EventScope["onEvent"], event: AuditEvent): void {
  try {
    listener?.(event);
  } catch {
    // Nobody here can do anything about it.
  }
}

async function openCalls(sink: AuditSink, lastSeq: number): Promise<readonly AuditEvent[]> {
  const open = new Map<string, AuditEvent>();
  for (const event of await sink.read(Math.max(0, lastSeq + 1 - limits.recoveryEvents), limits.recoveryEvents)) {
    if (event.callId === null) continue;
    if (terminalTypes.includes(event.type)) open.delete(event.callId);
    else if (event.type === "call.invoked") open.set(event.callId, event);
  }
  return [...open.values()];
}
