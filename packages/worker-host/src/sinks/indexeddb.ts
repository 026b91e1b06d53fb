import { knownOptions } from "@keyhole/kernel/foreign";
import { type AuditSink, type EventRecord, hashText, lineOf, recordOf, type SinkState } from "@keyhole/kernel";

export interface IndexedDbSinkOptions {
  /** Name of the database. One database has one writer: a second kernel on it, in another tab, does not open. Default `keyhole-audit`. */
  readonly database?: string;
}

export interface IndexedDbSink extends AuditSink {
  /** Ends the use of the database. The kernel's `close` calls it. */
  close(): void;
}

const STORE = "events";
/** Beside the events: what is no event among them is damage. */
const CHECKPOINT = "checkpoint";

/**
 * The audit log in IndexedDB, in a page or in a worker of it. A batch is one transaction with strict durability: all of it is on the disk before
 * `append` resolves, or nothing of it is there. The kernel hands over one batch at a time and holds calls back meanwhile.
 *
 * The browser may clear the database under storage pressure until `navigator.storage.persist()` was granted; a person can clear it always.
 * Checkpoints that are kept elsewhere show it.
 *
 * @example
 * const kernel = await createKernel({ sink: indexedDbSink() });
 */
export function indexedDbSink(options: IndexedDbSinkOptions = {}): IndexedDbSink {
  const { database = "keyhole-audit" } = knownOptions(options, { database: true }, "indexedDbSink");
  let connection: IDBDatabase | undefined;
  let release: (() => void) | undefined;
  let nextSeq = 0;
  const opened = (): IDBDatabase => {
    if (!connection) throw new Error("the log database is not open");
    return connection;
  };

  const close = (): void => {
    connection?.close();
    connection = undefined;
    release?.();
    release = undefined;
  };

  return {
    async open(): Promise<SinkState> {
      if (!("indexedDB" in globalThis)) throw new Error("indexedDbSink() needs IndexedDB, and only browsers have it.");
      // Before the log is read: a kernel that opens ends the calls that it finds open, and those of a living kernel run.
      release ??= await holdLog(database);
      connection?.close();
      connection = await connect(database);
      // A newer page wants the database: this one gives way, and its kernel stops.
      connection.addEventListener("versionchange", close);
      const { state, next } = await foundIn(connection);
      nextSeq = next;
      return state;
    },

    async append(records) {
      for (const [i, { seq }] of records.entries()) {
        if (seq !== nextSeq + i) throw new Error(`the log expects seq ${nextSeq + i}, not ${seq}`);
      }
      const transaction = opened().transaction(STORE, "readwrite", { durability: "strict" });
      const events = transaction.objectStore(STORE);
      const done = completed(transaction);
      // `add`, not `put`: after a write of another kernel, the batch fails.
      for (const record of records) events.add(lineOf(record), record.seq);
      transaction.commit();
      await done;
      nextSeq += records.length;
    },

    async read(fromSeq, limit) {
      if (limit <= 0) return []; // For the database, 0 is no limit.
      const events = opened().transaction(STORE, "readonly").objectStore(STORE);
      const lines: readonly unknown[] = await settled(events.getAll(placesFrom(fromSeq), Math.min(limit, 0xffff_ffff)));
      return lines.flatMap((line) => (typeof line === "string" ? (recordOf(line) ?? []) : []));
    },

    readCheckpoint: () => readCheckpoint(opened()),
    writeCheckpoint: (text, seq) => writeCheckpoint(opened(), text, seq),

    close,
  };
}

/** A page that was left can hold its locks until its worker has ended. */
const LOCK_MS = 5_000;

/**
 * Makes this page or worker the only writer, until the returned function is called or it is gone.
 *
 * @throws {Error} while another one writes
 */
async function holdLog(database: string): Promise<() => void> {
  // Pages of plain HTTP have no locks: there a second writer fails at its first write.
  const { locks } = navigator as { readonly locks?: LockManager };
  if (locks === undefined) return () => {};
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const waiting = new AbortController();
  const timer = setTimeout(() => waiting.abort(), LOCK_MS);
  try {
    await new Promise<void>((resolve, reject) => {
      const hold = (): Promise<void> => {
        resolve();
        return held;
      };
      locks.request(`keyhole-log:${database}`, { signal: waiting.signal }, hold).catch(reject);
    });
  } catch (error) {
    if (!waiting.signal.aborted) throw error;
    throw new Error(
      `Another page of this origin writes the log ${database}. Close that page, or name another database for this one.`,
      { cause: error },
    );
  } finally {
    clearTimeout(timer);
  }
  return release;
}

/** @returns `next`: where the next event goes */
async function foundIn(connection: IDBDatabase): Promise<{ readonly state: SinkState; readonly next: number }> {
  const cursor = await settled(eventsOf(connection).openKeyCursor(placesFrom(0), "prev"));
  if (cursor === null) {
    const count = await settled(eventsOf(connection).count());
    const damage = count === 0 ? null : `The log has ${count} events, and none is in its place.`;
    return { state: { last: undefined, cutBytes: 0, damage }, next: 0 };
  }
  const lastSeq = Math.ceil(Number(cursor.key));
  const seq = await checkpointSeq(connection);
  const events = eventsOf(connection);
  // A browser counts one by one. The kernel verifies events before a checkpoint beside the calls. A checkpoint of another log can be behind the end of this one.
  const isShort = seq !== undefined && seq <= lastSeq;
  const [count, line] = await Promise.all([
    settled(isShort ? events.count(placesFrom(seq)) : events.count()),
    settled<unknown>(events.get(lastSeq)),
  ]);
  return { state: stateOf(isShort ? count + seq : count, lastSeq, line), next: lastSeq + 1 };
}

function stateOf(count: number, lastSeq: number, line: unknown): SinkState {
  const last = readRecord(lastSeq, line);
  const gap = count === lastSeq + 1 ? null : `The log has ${count} events, and its last one is event ${lastSeq}.`;
  const damage = last ? gap : `Event ${lastSeq} of the log was overwritten.`;
  return { last: last ?? overwritten(lastSeq, line), cutBytes: 0, damage };
}

async function readCheckpoint(connection: IDBDatabase): Promise<string | undefined> {
  const kept = connection.transaction(CHECKPOINT, "readonly").objectStore(CHECKPOINT);
  const text: unknown = await settled(kept.get(0));
  return typeof text === "string" ? text : undefined;
}

const eventsOf = (connection: IDBDatabase): IDBObjectStore =>
  connection.transaction(STORE, "readonly").objectStore(STORE);

/** Of the event of the checkpoint; `undefined` where there is none, or nobody wrote down which event it is. */
async function checkpointSeq(connection: IDBDatabase): Promise<number | undefined> {
  const kept = connection.transaction(CHECKPOINT, "readonly").objectStore(CHECKPOINT);
  const seq: unknown = await settled(kept.get(1));
  return typeof seq === "number" && Number.isSafeInteger(seq) && seq >= 0 ? seq : undefined;
}

async function writeCheckpoint(connection: IDBDatabase, text: string, seq: number): Promise<void> {
  const transaction = connection.transaction(CHECKPOINT, "readwrite");
  const done = completed(transaction);
  const kept = transaction.objectStore(CHECKPOINT);
  kept.put(text, 0);
  kept.put(seq, 1);
  transaction.commit();
  await done;
}

function readRecord(seq: number, line: unknown): EventRecord | undefined {
  const record = typeof line === "string" ? recordOf(line) : undefined;
  return record?.seq === seq ? record : undefined;
}

/** The record before the next event where the last event is damaged: the number continues, and the chain shows the break. */
function overwritten(seq: number, line: unknown): EventRecord {
  const body = typeof line === "string" ? JSON.stringify(line) : `"${typeof line}"`;
  return { seq, body, hash: hashText(body) };
}

/** Where events can be: a database takes texts, dates and lists as keys as well, and sorts them behind all numbers. */
function placesFrom(seq: number): IDBKeyRange {
  return IDBKeyRange.bound(seq, Number.MAX_SAFE_INTEGER);
}

async function connect(database: string): Promise<IDBDatabase> {
  const request = indexedDB.open(database, 2);
  request.addEventListener("upgradeneeded", () => {
    const { result } = request;
    // The first version had no checkpoint.
    for (const store of [STORE, CHECKPOINT])
      if (!result.objectStoreNames.contains(store)) result.createObjectStore(store);
  });
  return new Promise((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () =>
      reject(request.error ?? new Error("the browser cannot open the log database")),
    );
    request.addEventListener("blocked", () => reject(new Error("another page holds the log database")));
  });
}

function settled<Result>(request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(request.error ?? new Error("the log database failed")));
  });
}

function completed(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.addEventListener("complete", () => resolve());
    transaction.addEventListener("abort", () => {
      const cause = transaction.error;
      reject(
        cause?.name === "ConstraintError"
          ? new Error("another writer wrote to the log", { cause })
          : (cause ?? new Error("the log database aborted the batch")),
      );
    });
  });
}
