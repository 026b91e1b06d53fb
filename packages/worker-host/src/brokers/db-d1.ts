import type { StatementKind } from "@keyhole/kernel";
import { codeOfName, faultOfCode, sizeOf } from "./sql/codes.ts";
import {
  type SqlDatabase,
  type SqlFault,
  sqlFault,
  type SqlLimits,
  sqlNeeds,
  type SqlResult,
  type SqlStatement,
  type SqlValue,
} from "./sql/database.ts";
import { definitionQuery, kindsByDefinition } from "./sql/definition.ts";

/** The used members of a D1 database, so the package needs no types of the platform. */
export interface D1DatabaseLike {
  prepare(sql: string): D1StatementLike;
}

export interface D1StatementLike {
  bind(...values: unknown[]): D1StatementLike;
  raw(options: { readonly columnNames: true }): Promise<[string[], ...unknown[][]]>;
  run(): Promise<{ readonly meta: { readonly changes: number; readonly last_row_id: number } }>;
}

/**
 * A D1 database. Its limits:
 *
 * - The broker makes a read the inner part of a `SELECT`, where SQLite's grammar has no place for a write.
 * - Only the reading of the words enforces the kind of a change (`insert` and not `drop`). The broker looks up the
 *   definition of the table before it.
 * - The result of an `INSERT` without `DO UPDATE` has the last inserted row. For a table `WITHOUT ROWID` it can be the row
 *   of another statement.
 * - D1 cannot stop a statement. The broker answers at its time, and when its call ends; a change may still happen later.
 *   D1 ends a statement after 30 s.
 * - Integers are doubles: beyond 53 bits D1 rounds a result, and the broker refuses a parameter. Columns of one name become `a`,
 *   `a:1`.
 */
export function d1Database(database: D1DatabaseLike): SqlDatabase {
  const prepare = (sql: string, params: readonly SqlValue[]): D1StatementLike =>
    database.prepare(sql).bind(...params.map(parameterOf));
  return {
    query: (statement, limits, signal) =>
      inTime(limits, signal, async () => {
        // One row more than may be, so that the answer is not as long as the table.
        const [columns, ...rows] = await prepare(selectOf(statement, limits.rows + 1), statement.params).raw({
          columnNames: true,
        });
        if (rows.length > limits.rows) return sqlFault("too-many-rows");
        const cells = rows.map((row) => row.map(cellOf));
        const bytes = cells.flat().reduce<number>((sum, value) => sum + sizeOf(value), 0);
        return bytes > limits.bytes ? sqlFault("too-large") : { ok: true, value: { columns, rows: cells } };
      }),
    run: ({ sql, params, kinds, target }, limits, signal) =>
      inTime(limits, signal, async () => {
        const needs = target === undefined ? [] : await missingKinds(prepare(definitionQuery, [target]), kinds);
        if (needs.length > 0) return sqlNeeds(needs);
        const { meta } = await prepare(sql, params).run();
        // Without an insertion, it is the row of another statement.
        const inserts = kinds.includes("insert") && !kinds.includes("update") && meta.changes > 0;
        return { ok: true, value: { changes: meta.changes, lastInsertRowId: inserts ? meta.last_row_id : 0 } };
      }),
  };
}

async function missingKinds(
  definition: D1StatementLike,
  kinds: readonly StatementKind[],
): Promise<readonly StatementKind[]> {
  const [, ...rows] = await definition.raw({ columnNames: true });
  return rows
    .flatMap(([type, sql]) => kindsByDefinition(kinds, { type: String(type), sql: String(sql) }))
    .filter((kind) => !kinds.includes(kind));
}

/** On a line of its own, so that a comment at the statement's end does not reach what follows. */
function selectOf({ sql }: SqlStatement, rows: number): string {
  return `SELECT * FROM (\n${sql.replace(/;\s*$/, "")}\n) LIMIT ${rows}`;
}

class Unsupported extends Error {}

function parameterOf(value: SqlValue): unknown {
  if (typeof value !== "bigint") return value;
  if (!Number.isSafeInteger(Number(value))) throw new Unsupported("D1 has no parameters beyond 53 bits");
  return Number(value);
}

/** A BLOB comes as a list of its bytes. */
function cellOf(value: unknown): SqlValue {
  return Array.isArray(value) ? Uint8Array.from(value as number[]) : (value as SqlValue);
}

async function inTime<Value>(
  { timeMs }: SqlLimits,
  signal: AbortSignal,
  operation: () => Promise<SqlResult<Value>>,
): Promise<SqlResult<Value>> {
  if (signal.aborted) return sqlFault("cancelled");
  const { promise, resolve } = Promise.withResolvers<SqlResult<Value>>();
  const timer = setTimeout(() => resolve(sqlFault("too-slow")), timeMs);
  const onCancel = (): void => resolve(sqlFault("cancelled"));
  signal.addEventListener("abort", onCancel, { once: true });
  operation().then(resolve, (error: unknown) => resolve({ ok: false, fault: faultOf(error) }));
  return promise.finally(() => {
    clearTimeout(timer);
    signal.removeEventListener("abort", onCancel);
  });
}

/** D1 says what SQLite said, between a name of its own and the name of the code: `D1_ERROR: no such table: t: SQLITE_ERROR`. */
function faultOf(error: unknown): SqlFault {
  if (error instanceof Unsupported) return { reason: "rejected", message: error.message };
  const text = error instanceof Error ? error.message : "";
  const said = /^(?:D1_\w+: )?([^]*?)(?:(?: at offset \d+)?: (SQLITE_[A-Z]+)[^]*)?$/.exec(text);
  const [, message = "", name] = said ?? [];
  if (name !== undefined) return faultOfCode(codeOfName(name), message);
  return message.startsWith("Wrong number of parameter bindings")
    ? { reason: "rejected", message }
    : { reason: "broken", message: "" };
}
