/** The worker that holds one database open: SQLite compiled to WebAssembly, its file in the origin private file system. */
import initialize, {
  type Database,
  type PreparedStatement,
  type SAHPoolUtil,
  type Sqlite3Static,
} from "@sqlite.org/sqlite-wasm";
import { watchPolicy } from "../page-policy.ts";
import { anyRow, Compilation } from "./authorize.ts";
import { faultOfCode } from "./codes.ts";
import { type SqlAnswer, sqlFault, sqlNeeds, type SqlTask, type SqlValue } from "./database.ts";
import { missingKinds } from "./definition.ts";

/** The memory of SQLite for all statements, in bytes. */
const heapBytes = 128 << 20;
/** The largest text or BLOB, as a value or on the way to one. */
const valueBytes = 32 << 20;
/** Instructions of SQLite's machine between two looks at the clock: a fraction of a millisecond. */
const instructions = 10_000;

/** The statement that a tool sent; nothing while this file asks for itself. */
let compiling: Compilation | undefined;
let deadline = 0;

/** An ended worker can keep its files for a moment longer than its lock. */
const tries = 20;
const pauseMs = 50;

async function poolOf(sqlite: Sqlite3Static, name: string): Promise<SAHPoolUtil> {
  // The types lack the last member: without it a failure is remembered.
  const options = { name: `keyhole-${name}`, directory: `/keyhole-db/${name}`, forceReinitIfPreviouslyFailed: true };
  for (let left = tries; ; left--)
    try {
      return await sqlite.installOpfsSAHPoolVfs(options);
    } catch (error) {
      if (left === 0) throw error;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
}

async function open(name: string): Promise<(task: SqlTask) => SqlAnswer> {
  const sqlite = await initialize();
  await ownTurn(name);
  const pool = await poolOf(sqlite, name);
  const database = new pool.OpfsSAHPoolDb(`/${name}.db`);
  const { capi } = sqlite;
  database.exec(`PRAGMA hard_heap_limit = ${heapBytes}; PRAGMA temp_store = memory; PRAGMA trusted_schema = off`);
  capi.sqlite3_limit(database, capi.SQLITE_LIMIT_LENGTH, valueBytes);
  capi.sqlite3_limit(database, capi.SQLITE_LIMIT_ATTACHED, 0);
  capi.sqlite3_db_config(database, capi.SQLITE_DBCONFIG_DEFENSIVE, 1, 0);
  capi.sqlite3_set_authorizer(
    database,
    (_, action, first, second, schema, within) =>
      compiling === undefined || compiling.allows(action, first || null, second || null, schema || null, within || null)
        ? capi.SQLITE_OK
        : capi.SQLITE_DENY,
    0,
  );
  capi.sqlite3_progress_handler(database, instructions, () => (performance.now() > deadline ? 1 : 0), 0);
  return (task) => perform(sqlite, database, task);
}

function perform(sqlite: Sqlite3Static, database: Database, task: SqlTask): SqlAnswer {
  let prepared: PreparedStatement | undefined;
  try {
    deadline = Infinity;
    // One connection serves both, because the file has one lock; this setting makes it read-only.
    database.exec(`PRAGMA query_only = ${task.operation === "query" ? "on" : "off"}`);
    // The row that another statement inserted last is not for this one.
    sqlite.capi.sqlite3_set_last_insert_rowid(database, 0n);
    deadline = performance.now() + task.limits.timeMs;
    const compilation = new Compilation(task.statement.kinds);
    compiling = compilation;
    prepared = database.prepare(task.statement.sql);
    const needs = task.operation === "run" ? missing(database, compilation) : [];
    if (needs.length > 0) return sqlNeeds(needs);
    const places = prepared.parameterCount;
    if (task.statement.params.length > places) return sqlFault("rejected", `the statement has ${places} parameters`);
    for (const [index, value] of task.statement.params.entries()) prepared.bind(index + 1, value);
    return operations[task.operation](sqlite, database, prepared, task);
  } catch (error) {
    if (error instanceof sqlite.SQLite3Error) return { ok: false, fault: faultOfCode(error.resultCode, error.message) };
    return sqlFault("broken");
  } finally {
    compiling = undefined;
    prepared?.finalize();
  }
}

function missing(database: Database, compilation: Compilation): ReturnType<typeof missingKinds> {
  compiling = undefined;
  try {
    return missingKinds(compilation, (sql, ...params) => database.selectArrays(sql, [...params]));
  } finally {
    compiling = compilation;
  }
}

type Operation = (sqlite: Sqlite3Static, database: Database, prepared: PreparedStatement, task: SqlTask) => SqlAnswer;

const operations = {
  query({ capi }, _, prepared, { limits }) {
    const columns = prepared.getColumnNames([]);
    const rows: SqlValue[][] = [];
    let bytes = 0;
    while (prepared.step()) {
      if (rows.length === limits.rows) return sqlFault("too-many-rows");
      // Before the copy out of SQLite's memory.
      for (const at of columns.keys()) bytes += capi.sqlite3_column_bytes(prepared, at) || 8;
      if (bytes > limits.bytes) return sqlFault("too-large");
      rows.push(columns.map((name, at) => prepared.get(at) as SqlValue));
    }
    return { ok: true, value: { columns, rows } };
  },
  run({ capi }, database, prepared, { statement: { kinds } }) {
    while (prepared.step());
    // A change of the schema leaves the number of the change before.
    const changes = anyRow.some((kind) => kinds.includes(kind)) ? capi.sqlite3_changes(database) : 0;
    return { ok: true, value: { changes, lastInsertRowId: capi.sqlite3_last_insert_rowid(database) } };
  },
} satisfies Record<SqlTask["operation"], Operation>;

const wishMs = 200;

/** Waits for the lock of the database, which another tab may have. Its holder hears of the wish; the end of a worker gives its lock back. */
async function ownTurn(name: string): Promise<void> {
  const lock = `keyhole-db/${name}`;
  const wishes = new BroadcastChannel(lock);
  const held = Promise.withResolvers<void>();
  void navigator.locks.request(lock, () => (held.resolve(), new Promise<never>(() => {})));
  // Again and again: the next holder hears of it, too.
  const wishing = setInterval(() => wishes.postMessage(""), wishMs);
  wishes.postMessage("");
  await held.promise;
  clearInterval(wishing);
  wishes.addEventListener("message", () => postMessage("wanted" satisfies WorkerNotice));
}

/**
 * The first message of the worker: `ready`, or a failure with the source that the policy of its
 * file lacks, if that is the cause.
 */
export type WorkerStart = "ready" | { readonly failed: string | undefined };

/** The notice that another tab waits for the database. */
export type WorkerNotice = "wanted";

async function start(name: string): Promise<void> {
  const policy = watchPolicy(() => true);
  try {
    const serve = await open(name);
    addEventListener("message", ({ data: task }: MessageEvent<SqlTask>) => postMessage(serve(task)));
    postMessage("ready" satisfies WorkerStart);
  } catch {
    postMessage({ failed: await policy.lacks() } satisfies WorkerStart);
  } finally {
    policy.leave();
  }
}

// The first message is the database's name; every later one is a task.
addEventListener("message", ({ data: name }: MessageEvent<string>) => void start(name), { once: true });
