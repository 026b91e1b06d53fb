import { SinkEnd } from "./sink-end.ts";
import { present } from "../support/guards.ts";
import { numberedIds } from "../id/uuid.ts";
import { isoTime } from "../id/time.ts";
import type { Clock } from "../isolate/clock.ts";
import { type Listener, tell } from "../support/foreign.ts";
import { type Hash, isDigest } from "../hash/hash.ts";
import { deepFreeze } from "../json/freeze.ts";
import { canonicalJson } from "../json/canonical-json.ts";
import { applyAll, type DeclaredTable, noChanges, type RowChange, type StateChange } from "../state/change.ts";
import type { SteadyClock } from "../state/steady-clock.ts";
import type { AuditEvent, AuditPayloads, AuditType } from "./event.ts";
import { type CheckpointParts, Checkpoints } from "./checkpoints.ts";
import { EarlierCheck } from "./earlier-events.ts";
import { reopen } from "./reopen.ts";
import { closing, opening } from "./open-calls.ts";
import { payloadText } from "./payload.ts";
import { copyOf, type EventRecord, eventOf } from "./record.ts";
import type { Reopened } from "./reopen.ts";
import { bodyOf, type EventScope, kernelScope } from "./scope.ts";
import { type AuditSink, waitFor } from "./sink.ts";
import { StoragePressure } from "./storage-pressure.ts";
import { AuditUnavailable } from "./unavailable.ts";

/** For those who only tell. */
export type EventRecorder = Pick<AuditLog, "record">;
/** The parts with which a log opens. */
export interface LogParts extends CheckpointParts {
  readonly clock: Clock;
  /** All state of the kernel and its extensions: it has its rows when the log is open. */
  readonly tables: readonly DeclaredTable[];
  /** The clock of rows. It continues from the last written time. */
  readonly steady: SteadyClock;
}

/** The content of a sink at its opening. */
interface Found extends Omit<Reopened, "latestMs"> {
  readonly last: EventRecord | undefined;
}

/** An event, and the call that waits for it. */
interface Pending extends EventRecord {
  readonly scope: EventScope;
}

const noRows: readonly RowChange[] = [];

/** The chain in front of a sink. `record` orders and chains at once; `flush` makes durable. Batches reach the sink one at a time, in order. */
export class AuditLog {
  readonly #sink: AuditSink;
  readonly #clock: Clock;
  readonly #hash: Hash;
  readonly #listeners = new Set<Listener<[AuditEvent]>>();
  #pending: Pending[] = [];
  #writing: Promise<void> | undefined;
  /** The next write, shared by all events recorded during the current one. Their callers wait for no later event. */
  #next: Promise<void> | undefined;
  #failure: AuditUnavailable | undefined;
  readonly #onFailure = new Set<() => void>();
  readonly #idOf = numberedIds();
  #seq: number;
  #prev: string;
  #durableSeq: number;
  readonly pressure: StoragePressure = new StoragePressure();

  /** Why the log before its end is damaged; `null` where it is whole. */
  readonly damage: string | null;

  /** As the sink says of itself. */
  readonly isVolatile: boolean;

  /** Events before the place where this kernel began to read. */
  readonly earlier: EarlierCheck;
  readonly #checkpoints: Checkpoints;
  #isClosed = false;
  readonly #end: SinkEnd;
  /** Calls that have begun and not ended, for the next checkpoint. */
  readonly #open = new Map<string, EventScope>();
  /** For the next event, whichever it is. */
  #later: readonly RowChange[] = noRows;

  private constructor(parts: LogParts, found: Found) {
    const { sink, clock, hash } = parts;
    const { last, tables, openCalls, damage, checkpoint } = found;
    this.#sink = sink;
    this.#clock = clock;
    this.#hash = hash;
    this.#end = new SinkEnd(sink, () => !this.writable || (this.openCalls === 0 && this.backlog === 0));
    this.isVolatile = sink.isVolatile ?? false;
    this.damage = damage;
    this.earlier = new EarlierCheck(parts, checkpoint, this.damage);
    this.#seq = this.#durableSeq = last ? last.seq + 1 : 0;
    this.#prev = last?.hash ?? hash.zero;
    this.#checkpoints = new Checkpoints({ ...parts, tables, pressure: this.pressure }, checkpoint?.seq ?? -1);
    for (const scope of openCalls) this.#track("call.invoked", scope);
  }

  /**
   * Continues after the sink's last event, with the state that the log holds. Records what a crash
   * cut off, and ends every call that the log left open.
   *
   * @throws TypeError for a log in another algorithm: a log has one, and the embedding program chose both.
   */
  static async open(parts: LogParts): Promise<AuditLog> {
    const { sink, hash, tables, steady } = parts;
    const { last, cutBytes, damage } = await sink.open();
    if (last && damage === null && isDigest(last.hash) && !last.hash.startsWith(`${hash.algorithm}:`))
      throw new TypeError(`The log continues from ${last.hash}; the kernel hashes with ${hash.algorithm}.`);
    // A new log has nothing to read.
    const reopened = last
      ? await reopen(parts, last.seq, damage)
      : { tables, openCalls: [], damage, checkpoint: undefined, latestMs: 0 };
    steady.notBefore(reopened.latestMs);
    const log = new AuditLog(parts, { ...reopened, last });
    if (cutBytes > 0) log.record("log.recovered", kernelScope, { cutBytes, lastSeq: last?.seq ?? null });
    if (log.damage === null && last)
      for (const scope of reopened.openCalls) log.record("tool.lost", scope, { lastSeq: last.seq });
    await log.flush();
    return log;
  }

  /** The changes take effect with the event, and are in the log with it. */
  record<Type extends AuditType>(
    type: Type,
    scope: EventScope,
    payload: AuditPayloads[Type],
    changes: readonly StateChange[] = noChanges,
  ): void {
    // The log is closed for ever: refused events must not fill the memory.
    if (this.#failure) return;
    const nowMs = this.#clock.now();
    const seq = this.#seq;
    const prev = this.#prev;
    const rows = this.#rowsOf(changes);
    const body = bodyOf(scope, {
      type,
      seq,
      id: this.#idOf(nowMs, seq),
      time: isoTime(nowMs),
      payload: payloadText(type, payload),
      state: rows.length === 0 ? "" : canonicalJson(rows),
      prev,
    });
    const hash = this.#hash.text(body);
    // Only now: an event that throws leaves no gap in the log.
    this.#seq = seq + 1;
    this.#prev = hash;
    const record = { seq, body, hash, scope };
    this.#pending.push(record);
    this.#later = noRows;
    applyAll(changes);
    this.#track(type, scope);
    if (this.damage === null) this.#checkpoints.recorded(record, this.#open);
  }

  #track(type: AuditType, scope: EventScope): void {
    const { callId } = scope;
    if (callId === null) return;
    if (opening.has(type)) this.#open.set(callId, scope);
    else if (closing.has(type)) this.#open.delete(callId);
  }

  /** The fault of the log before the place where this kernel began to read, or `null`. It takes a while, and ends early with `close`. */
  verifyEarlier(): Promise<string | null> {
    return this.earlier.verify(() => this.#isClosed || !this.writable);
  }

  /** Calls that have begun and not ended. */
  get openCalls(): number {
    return this.#open.size;
  }

  /** Ends the automatic reads, and closes the sink behind the last event. Calls that still run do not hold it. */
  close(users: () => Promise<unknown>): Promise<void> {
    this.#isClosed = true;
    return this.#end.behind(users(), async () => this.flush());
  }

  /** For a change that no event of its own makes. It takes effect at once and goes with the next event, whichever it is; a crash before that forgets it. */
  changeNow(changes: readonly StateChange[]): void {
    this.#later = this.#rowsOf(changes);
    applyAll(changes);
  }

  #rowsOf(changes: readonly StateChange[]): readonly RowChange[] {
    if (changes.length === 0) return this.#later;
    return [...this.#later, ...changes.map(({ change }) => change)];
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
    this.#pending = [];
    let written: Promise<unknown> | undefined;
    try {
      written = waitFor(this.#sink.append(batch.map(copyOf)));
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

  /**
   * Fails the log because it cannot store a part of an event, as for an event itself.
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

  /** For calls that run: nothing that they do from then on would be on record. @returns the end of listening */
  onFailure(listener: () => void): () => void {
    this.#onFailure.add(listener);
    return () => this.#onFailure.delete(listener);
  }

  /** Events that were recorded and are not yet durable. */
  get backlog(): number {
    return this.#seq - this.#durableSeq;
  }

  /** Where the next event goes: its number, and the digest that it follows. */
  get end(): { readonly seq: number; readonly prev: string } {
    return { seq: this.#seq, prev: this.#prev };
  }

  async read(fromSeq: number, limit: number): Promise<readonly AuditEvent[]> {
    return (await this.#sink.read(fromSeq, limit)).map(eventOf);
  }

  subscribe(listener: Listener<[AuditEvent]>): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #fail(cause: unknown): AuditUnavailable {
    this.pressure.heard(cause);
    if (this.#failure) return this.#failure;
    this.#failure = new AuditUnavailable(cause);
    for (const each of this.#onFailure) each();
    return this.#failure;
  }

  #publish(batch: readonly Pending[]): void {
    const { seq } = present(batch.at(-1));
    this.#durableSeq = seq + 1;
    this.#checkpoints.durable(seq);
    batch.forEach((record) => {
      const { onEvent } = record.scope;
      if (onEvent === undefined && this.#listeners.size === 0) return;
      const event = deepFreeze(eventOf(record)); // All listeners hold the same object.
      tell(onEvent, [event]);
      for (const listener of this.#listeners) tell(listener, [event]);
    });
    if (this.#isClosed) this.#end.look().catch(() => {}); // Nobody waits for it any more.
  }
}
