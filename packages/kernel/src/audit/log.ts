import { numberedIds } from "../id/uuid.ts";
import { isoTime } from "../id/time.ts";
import type { Clock } from "../isolate/clock.ts";
import { limits } from "../limits.ts";
import { type Foreign, type Listener, membersOf, tell, type Theirs } from "../support/foreign.ts";
import { type Hash, isDigest } from "../hash/hash.ts";
import { deepFreeze } from "../json/freeze.ts";
import { type AuditEvent, type AuditPayloads, type AuditType, terminalTypes } from "./event.ts";
import { payloadText } from "./payload.ts";
import { copyOf, type EventRecord, eventOf, readRecord, readRecords } from "./record.ts";
import { bodyOf, type EventScope, eventScope, kernelScope } from "./scope.ts";
import { type AuditSink, waitFor } from "./sink.ts";

/** Thrown to the pipeline when the sink failed: from then on nothing runs. */
export class AuditUnavailable extends Error {
  constructor(cause: unknown) {
    super("The audit log cannot be written.", { cause });
    this.name = "AuditUnavailable";
  }
}

/** Takes events, for those who only tell. */
export type EventRecorder = Pick<AuditLog, "record">;

/** The chain in front of a sink. `record` orders and chains at once; `flush` makes durable. Batches reach the sink one at a time, in order. */
export class AuditLog {
  readonly #sink: Theirs<AuditSink>;
  readonly #clock: Clock;
  readonly #hash: Hash;
  readonly #listeners = new Set<Listener<[AuditEvent]>>();
  #pending: EventRecord[] = [];
  /** Beside `#pending`: who waits for each event. */
  #waiting: EventScope[] = [];
  #writing: Promise<void> | undefined;
  /** The write after it, one for all who came meanwhile: what they wait for is in it, and they do not wait for what is recorded later. */
  #next: Promise<void> | undefined;
  #failure: AuditUnavailable | undefined;
  readonly #idOf = numberedIds();
  #seq: number;
  #prev: string;

  /** Idempotency keys of calls that had started, from the end of the log as it was opened: what was done under them must not be done again. */
  readonly usedKeys: readonly UsedKey[];

  /** Why the log before its end cannot be what was written; `null` where it can. */
  readonly damage: string | null;

  private constructor(
    sink: Theirs<AuditSink>,
    clock: Clock,
    hash: Hash,
    recent: readonly EventRecord[],
    last: EventRecord | undefined,
    damage: string | null,
  ) {
    this.#sink = sink;
    this.#clock = clock;
    this.#hash = hash;
    this.damage = damage;
    this.usedKeys = usedKeys(recent);
    this.#seq = last ? last.seq + 1 : 0;
    this.#prev = last?.hash ?? hash.zero;
  }

  /**
   * Goes on after the sink's last event, says what a crash tore off, and ends every call that it left open.
   *
   * @throws TypeError for a log in another algorithm: a log has one, and the embedding program chose both.
   */
  static async open(sink: Theirs<AuditSink>, clock: Clock, hash: Hash): Promise<AuditLog> {
    const found = membersOf(await sink.open(), "last", "cutBytes", "damage");
    const { cutBytes } = found;
    const last = readRecord(found.last);
    const damage = damageIn(found.damage);
    if (last && damage === null && isDigest(last.hash) && !last.hash.startsWith(`${hash.algorithm}:`))
      throw new TypeError(`The log continues from ${last.hash}; the kernel hashes with ${hash.algorithm}.`);
    const first = Math.max(0, (last?.seq ?? 0) + 1 - limits.recoveryEvents);
    const read = last ? readRecords(await sink.read(first, limits.recoveryEvents), limits.recoveryEvents) : [];
    const recent = read ?? [];
    const fault = read ? faultOf(recent, hash) : "The sink returned a value that is not a list of events.";
    const log = new AuditLog(sink, clock, hash, recent, last, damage ?? fault);
    if (typeof cutBytes === "number" && cutBytes > 0)
      log.record("log.recovered", kernelScope, { cutBytes, lastSeq: last?.seq ?? null });
    if (log.damage === null && last) {
      for (const { callId, sessionId, traceparent } of openCalls(recent)) {
        log.record("tool.lost", eventScope(callId, sessionId, traceparent), { lastSeq: last.seq });
      }
    }
    await log.flush();
    return log;
  }

  record<Type extends AuditType>(type: Type, scope: EventScope, payload: AuditPayloads[Type]): void {
    // Nothing will ever be written any more: what is refused from now on must not fill the memory.
    if (this.#failure) return;
    const nowMs = this.#clock.now();
    const seq = this.#seq;
    const prev = this.#prev;
    const body = bodyOf(scope, {
      type,
      seq,
      id: this.#idOf(nowMs, seq),
      time: isoTime(nowMs),
      payload: payloadText(type, payload),
      prev,
    });
    const hash = this.#hash.text(body);
    // Only now: what cannot be written, and throws, leaves no gap in the log.
    this.#seq = seq + 1;
    this.#prev = hash;
    this.#pending.push({ seq, body, hash });
    this.#waiting.push(scope);
  }

  /**
   * Durable when it returns, or when the returned promise resolves.
   *
   * @throws AuditUnavailable (or rejects with it) when the sink failed, now or earlier.
   */
  flush(): void | Promise<void> {
    if (this.#failure) throw this.#failure;
    if (this.#next) return this.#next;
    if (this.#writing)
      return (this.#next = this.#writing.then(() => {
        this.#next = undefined;
        return this.flush();
      }));
    if (this.#pending.length === 0) return;
    const batch = this.#pending;
    const waiting = this.#waiting;
    this.#pending = [];
    this.#waiting = [];
    let written: Promise<unknown> | undefined;
    try {
      written = waitFor(this.#sink.append(batch.map(copyOf)));
    } catch (error) {
      throw this.#fail(error);
    }
    if (written === undefined) return this.#publish(batch, waiting);
    this.#writing = written.then(
      () => {
        this.#writing = undefined;
        this.#publish(batch, waiting);
      },
      (error: unknown) => {
        this.#writing = undefined;
        throw this.#fail(error);
      },
    );
    return this.#writing;
  }

  /**
   * What belongs to an event cannot be kept: the same as an event that cannot.
   *
   * @throws AuditUnavailable
   */
  fail(cause: unknown): never {
    throw this.#fail(cause);
  }

  /** `false` once the sink failed. */
  get writable(): boolean {
    return this.#failure === undefined;
  }

  /** Where the next event goes: its number, and the digest that it follows. */
  get end(): { readonly seq: number; readonly prev: string } {
    return { seq: this.#seq, prev: this.#prev };
  }

  async read(fromSeq: number, limit: number): Promise<readonly AuditEvent[]> {
    const records = readRecords(await this.#sink.read(fromSeq, limit), limit);
    if (!records) throw new TypeError(`The sink did not return a list of at most ${limit} records.`);
    return records.map(eventOf);
  }

  subscribe(listener: Listener<[AuditEvent]>): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #fail(cause: unknown): AuditUnavailable {
    this.#failure ??= new AuditUnavailable(cause);
    return this.#failure;
  }

  #publish(batch: readonly EventRecord[], waiting: readonly EventScope[]): void {
    for (let i = 0; i < batch.length; i++) {
      const { onEvent } = waiting[i]!;
      if (onEvent === undefined && this.#listeners.size === 0) continue;
      const event = deepFreeze(eventOf(batch[i]!)); // All listeners hold the same object.
      tell(onEvent, [event]);
      for (const listener of this.#listeners) tell(listener, [event]);
    }
  }
}

/** Whatever a sink says but that there is none. */
function damageIn(foreign: Foreign<string | null | undefined>): string | null {
  if (typeof foreign === "string") return foreign;
  return foreign === null || foreign === undefined ? null : "The sink reports no details.";
}

function openCalls(recent: readonly EventRecord[]): readonly AuditEvent[] {
  const open = new Map<string, AuditEvent>();
  for (const event of recent.map(eventOf)) {
    if (event.callId === null) continue;
    if (terminalTypes.includes(event.type) || event.type === "tool.suspended") open.delete(event.callId);
    else if (event.type === "call.invoked" || event.type === "tool.resumed") open.set(event.callId, event);
  }
  return [...open.values()];
}

/** A key as a log knows it. */
export interface UsedKey {
  readonly keyHash: string;
  readonly argsHash: string;
  readonly callId: string;
  /** Since the epoch. */
  readonly usedAtMs: number;
}

function usedKeys(recent: readonly EventRecord[]): readonly UsedKey[] {
  const keyed = new Map<string, UsedKey>();
  const used: UsedKey[] = [];
  // Most logs have none, and reading every event takes longer than looking for the word.
  for (const record of recent.some(({ body }) => body.includes('"type":"call.keyed"')) ? recent : []) {
    const { type, callId, payload, time } = eventOf(record);
    if (callId === null) continue;
    if (type === "call.keyed") keyed.set(callId, { ...payload, callId, usedAtMs: Date.parse(time) });
    const key = type === "tool.started" || type === "tool.suspended" ? keyed.get(callId) : undefined;
    if (key) used.push(key);
  }
  return used;
}

/** What is wrong with the end of a log as a sink gives it back, checked from digest to digest. */
function faultOf(recent: readonly EventRecord[], by: Hash): string | null {
  let before: EventRecord | undefined;
  for (const record of recent) {
    const { seq, body, hash } = record;
    const prev = before?.hash ?? (seq === 0 ? by.zero : undefined);
    if (before && seq !== before.seq + 1) return `Event ${before.seq + 1} of the log is missing.`;
    if (!body.isWellFormed() || by.text(body) !== hash) return `Event ${seq} of the log was changed.`;
    if (prev !== undefined && !body.includes(`,"prev":"${prev}","seq":${seq},`))
      return `Event ${seq} of the log does not follow the one before.`;
    before = record;
  }
  return null;
}
