/**
 * The process that holds one database open. SQLite cannot be interrupted from JavaScript: a statement that does not end keeps its thread for good, and ending
 * a worker thread waits for it. A process can be ended at any moment, and what it had begun to write is rolled back by whoever opens the file next.
 */
import type { DatabaseSync, SQLOutputValue, StatementSync } from "node:sqlite";
import { Compilation } from "../brokers/sql/authorize.ts";
import { faultOfCode, sizeOf } from "../brokers/sql/codes.ts";
import {
  type SqlAnswer,
  type SqlChange,
  sqlFault,
  type SqlResult,
  type SqlRows,
  sqlNeeds,
  type SqlTask,
  type SqlValue,
} from "../brokers/sql/database.ts";
import { missingKinds } from "../brokers/sql/definition.ts";

/** The bytes that SQLite can allocate for any statement. */
const heapBytes = 128 << 20;
/** The largest text or BLOB, as a value or on the way to one. */
const valueBytes = 32 << 20;
/** How long a statement waits for another process that writes. */
const busyMs = 1_000;

// Without imports: the process starts from text.
const sqlite = process.getBuiltinModule("node:sqlite");
const { Worker } = process.getBuiltinModule("node:worker_threads");

const file = process.argv.at(-1)!;
/** The statement that a tool sent; nothing while this file asks for itself. */
let compiling: Compilation | undefined;
let reader: DatabaseSync | undefined;

function open(readOnly: boolean): DatabaseSync {
  const database = new sqlite.DatabaseSync(file, {
    readOnly,
    timeout: busyMs,
    defensive: true,
    allowExtension: false,
    enableDoubleQuotedStringLiterals: false,
    limits: { length: valueBytes, attach: 0 },
  });
  compiling = undefined;
  database.exec(`PRAGMA hard_heap_limit = ${heapBytes}; PRAGMA temp_store = memory; PRAGMA trusted_schema = off`);
  const { SQLITE_OK, SQLITE_DENY } = sqlite.constants;
  database.setAuthorizer((action, first, second, schema, within) =>
    compiling === undefined || compiling.allows(action, first, second, schema, within) ? SQLITE_OK : SQLITE_DENY,
  );
  return database;
}

function prepare(database: DatabaseSync, sql: string, compilation: Compilation): StatementSync {
  compiling = compilation;
  const prepared = database.prepare(sql);
  prepared.setReadBigInts(true);
  return prepared;
}

function missing(database: DatabaseSync, compilation: Compilation): ReturnType<typeof missingKinds> {
  compiling = undefined;
  try {
    return missingKinds(compilation, (sql, ...params) =>
      database
        .prepare(sql)
        .all(...params)
        .map((row) => Object.values(row)),
    );
  } finally {
    compiling = compilation;
  }
}

const operations = {
  /** On a connection that the engine opened for reading only. */
  query({ statement, limits }: SqlTask): SqlResult<SqlRows> {
    const prepared = prepare((reader ??= open(true)), statement.sql, new Compilation(statement.kinds));
    prepared.setReturnArrays(true);
    const columns = prepared.columns().map(({ name }) => name);
    const rows: SqlValue[][] = [];
    let bytes = 0;
    for (const each of prepared.iterate(...statement.params)) {
      if (rows.length === limits.rows) return sqlFault("too-many-rows");
      // With `setReturnArrays` a row is a list, which its type does not say.
      const row = (each as unknown as SQLOutputValue[]).map(valueOf);
      bytes += row.reduce<number>((sum, value) => sum + sizeOf(value), 0);
      if (bytes > limits.bytes) return sqlFault("too-large");
      rows.push(row);
    }
    return { ok: true, value: { columns, rows } };
  },
  /** On a connection of its own: SQLite says what the last change of the same connection was, whoever made it. */
  run({ statement }: SqlTask): SqlResult<SqlChange> {
    const database = open(false);
    try {
      const compilation = new Compilation(statement.kinds);
      const prepared = prepare(database, statement.sql, compilation);
      const needs = missing(database, compilation);
      if (needs.length > 0) return sqlNeeds(needs);
      const { changes, lastInsertRowid } = prepared.run(...statement.params);
      return { ok: true, value: { changes: Number(changes), lastInsertRowId: lastInsertRowid } };
    } finally {
      compiling = undefined;
      database.close();
    }
  },
} satisfies Record<SqlTask["operation"], (task: SqlTask) => SqlResult<unknown>>;

function valueOf(value: SQLOutputValue): SqlValue {
  // As large as the value, and not as what it is a part of.
  return value instanceof Uint8Array ? new Uint8Array(value) : value;
}

function perform(task: SqlTask): SqlAnswer {
  try {
    return operations[task.operation](task);
  } catch (error) {
    if (error instanceof Error && "errcode" in error && typeof error.errcode === "number")
      return { ok: false, fault: faultOfCode(error.errcode, error.message) };
    // Node's own checks: more or fewer values than places, a value that cannot be bound.
    return error instanceof TypeError || error instanceof RangeError
      ? sqlFault("rejected", error.message)
      : sqlFault("broken");
  }
}

// An empty file is an empty database; a reader would not make one.
new sqlite.DatabaseSync(file).close();
process.on("message", (task: SqlTask) => void process.send!(perform(task)));
process.on("disconnect", () => process.exit());

// The parent process can die during an endless statement; then no other process ends it.
new Worker(
  `const parent = process.ppid;
   setInterval(() => process.ppid === parent || process.kill(process.pid, "SIGKILL"), 1000);`,
  { eval: true, env: {} },
).unref();

process.send!("ready");
