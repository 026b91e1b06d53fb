import type { Hash } from "../hash/hash.ts";
import type { JsonValue } from "../json/json.ts";
import { type DeclaredTable, isRowChange } from "../state/change.ts";
import { UnknownTable } from "../state/unknown-table.ts";
import { type AuditEvent, modeRow } from "./event.ts";
import { closing, opening } from "./open-calls.ts";
import { type EventRecord, eventOf } from "./record.ts";
import { type EventScope, eventScope } from "./scope.ts";
import type { StateCheckpoint } from "./state-checkpoint.ts";

/** Between two looks at what has expired while a long log is read. */
const EXPIRE_EVENTS = 10_000;

/**
 * The facts of a log: its damage, the governing state, and the calls without an end. Add records in
 * order.
 */
export class LogReading {
  readonly #hash: Hash;
  readonly #tables: Map<string, DeclaredTable>;
  /** The scope of each open call, made on request: most calls end without one. */
  readonly #open = new Map<string, () => EventScope>();
  #before: Pick<EventRecord, "seq" | "hash"> | undefined;
  #damage: string | null = null;
  #events = 0;
  /** Since the epoch: of the last row that says when it was written. */
  latestMs = 0;

  constructor(hash: Hash, tables: readonly DeclaredTable[]) {
    this.#hash = hash;
    this.#tables = new Map(tables.map((table) => [table.name, table]));
  }

  /** The first thing that is wrong; `null` where nothing is. */
  get damage(): string | null {
    return this.#damage;
  }

  get tables(): readonly DeclaredTable[] {
    return [...this.#tables.values()];
  }

  /** Calls without an end. A suspended call waits elsewhere. */
  get openCalls(): readonly EventScope[] {
    return Array.from(this.#open.values(), (scope) => scope());
  }

  /** The last added record. */
  get last(): Pick<EventRecord, "seq" | "hash"> | undefined {
    return this.#before;
  }

  /** As after all events up to a checkpoint. */
  continueFrom({ seq, hash, rows, openCalls }: StateCheckpoint): void {
    this.#before = { seq, hash };
    for (const [name, version, key, row] of rows) this.#take("The checkpoint of the log", name, version, key, row);
    for (const [callId, sessionId, traceparent] of openCalls)
      this.#open.set(callId, () => eventScope(callId, sessionId, traceparent));
  }

  add(record: EventRecord): void {
    const { body, hash } = record;
    // The change has no effect here.
    if (!body.isWellFormed() || this.#hash.text(body) !== hash)
      return this.fault(`Event ${record.seq} of the log was changed.`);
    const fault = chainFault(this.#before, record, this.#hash.zero);
    if (fault !== undefined) this.fault(fault);
    this.#before = record;
    const callId = callIdIn(body);
    const type = typeIn(body);
    if (callId !== undefined) this.#track(callId, type, record);
    // The words can stand in a payload as well.
    if (body.includes(',"state":[') || type === "mode.changed") this.#change(eventOf(record));
    if (++this.#events % EXPIRE_EVENTS === 0) for (const table of this.#tables.values()) table.expire(this.latestMs);
  }

  fault(damage: string): void {
    this.#damage ??= damage;
  }

  #track(callId: string, type: string, record: EventRecord): void {
    if (closing.has(type)) this.#open.delete(callId);
    else if (opening.has(type)) this.#open.set(callId, () => scopeOf(record));
  }

  #change({ seq, state = [], type, payload }: AuditEvent): void {
    // Earlier kernels changed the mode without a row.
    const ofMode = type === "mode.changed" ? [[...modeRow, payload.mode]] : [];
    for (const change of [...ofMode, ...state]) {
      if (!isRowChange(change)) {
        this.fault(`Event ${seq} of the log changes state in another form.`);
        continue;
      }
      const [name, version, key, row] = change;
      this.#take(`Event ${seq} of the log`, name, version, key, row);
    }
  }

  #take(where: string, name: string, version: number, key: string, row: JsonValue): void {
    let table = this.#tables.get(name);
    if (!table) this.#tables.set(name, (table = new UnknownTable(name, version)));
    const writtenMs = table.take(key, row, version);
    if (writtenMs === undefined)
      this.fault(`${where} has a row of ${name} in version ${version}, which this kernel cannot read.`);
    else this.latestMs = Math.max(this.latestMs, writtenMs);
  }
}

/**
 * Why a record is not the next of a log: its first one is event 0. `undefined` where it is.
 *
 * @param before `undefined` for the first one
 * @param zero `prev` of the first one, in the algorithm of the log
 */
export function chainFault(
  before: Pick<EventRecord, "seq" | "hash"> | undefined,
  { seq, body }: EventRecord,
  zero: string | undefined,
): string | undefined {
  const next = before ? before.seq + 1 : 0;
  if (seq !== next) return `Event ${next} of the log is missing.`;
  const follows = body.includes(`,"prev":"${before?.hash ?? zero}","seq":${seq},`);
  return follows ? undefined : `Event ${seq} of the log does not follow the one before.`;
}

function scopeOf(record: EventRecord): EventScope {
  const { callId, sessionId, traceparent } = eventOf(record);
  return eventScope(callId, sessionId, traceparent);
}

/*
 * An event is canonical JSON: its first member is `callId`, its last ones are `type` and `v`. Looking there takes a fiftieth of reading it whole, and a log can have millions.
 */

/** `undefined` for events of no call. */
function callIdIn(body: string): string | undefined {
  return body.startsWith(CALL_ID) ? body.slice(CALL_ID.length, body.indexOf('"', CALL_ID.length)) : undefined;
}

function typeIn(body: string): string {
  return body.slice(body.lastIndexOf(TYPE) + TYPE.length, -END.length);
}

const CALL_ID = '{"callId":"';
const TYPE = ',"type":"';
const END = '","v":1}';
