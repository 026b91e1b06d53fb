import type { StatementKind } from "@keyhole/kernel";

/** The value of an SQLite cell. A number is a REAL or an integer that a double holds exactly. */
export type SqlValue = null | number | bigint | string | Uint8Array;

/** One statement whose words were read and granted. */
export interface SqlStatement {
  readonly sql: string;
  readonly params: readonly SqlValue[];
  /**
   * The granted kinds: the engine has to refuse all others. Contains a changing kind only for
   * `run`, and then `select` only if the change may read.
   */
  readonly kinds: readonly StatementKind[];
  /** The table or view whose rows it changes, for an engine that does not say so itself. */
  readonly target?: string;
}

export interface SqlLimits {
  /** Rows of the answer; one more is `too-many-rows`. */
  readonly rows: number;
  /** Bytes of the answer's values; more are `too-large`. */
  readonly bytes: number;
  /** From the start of the statement to its end; later is `too-slow`. */
  readonly timeMs: number;
}

export interface SqlRows {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly SqlValue[])[];
}

export interface SqlChange {
  readonly changes: number;
  readonly lastInsertRowId: number | bigint;
}

/** Why a database did not do what it was asked: an expected state of the world, no bug. */
export interface SqlFault {
  readonly reason:
    /** Wrong SQL, a name that is not there, a constraint: the statement's fault. */
    | "rejected"
    /** The engine found it to do what was not granted. */
    | "denied"
    | "too-slow"
    | "too-many-rows"
    | "too-large"
    /** Someone else writes. */
    | "busy"
    | "no-space"
    /** The call ended first. */
    | "cancelled"
    /** The component behind the database failed, or is not there. */
    | "broken";
  /** The message of the engine, for the author of the statement. */
  readonly message: string;
  /** With `denied`: kinds without which the statement was not begun. With them it can be asked again. */
  readonly needs?: readonly StatementKind[];
}

export type SqlResult<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly fault: SqlFault };

/**
 * One database. Each call is one statement, a transaction of its own. Never rejects for what the statement or the world did.
 * `test/contract/db.ts` says what every database must do.
 */
export interface SqlDatabase {
  /** Statements at the same time. More of them wait in the broker, where callers take turns. Default: no bound. */
  readonly concurrency?: number;
  /** A statement that reads; the engine lets it change nothing. */
  query(statement: SqlStatement, limits: SqlLimits, signal: AbortSignal): Promise<SqlResult<SqlRows>>;
  run(statement: SqlStatement, limits: SqlLimits, signal: AbortSignal): Promise<SqlResult<SqlChange>>;
}

/** One statement on its way to where a database is open, be it a process or a worker. */
export interface SqlTask {
  readonly operation: "query" | "run";
  readonly statement: SqlStatement;
  readonly limits: SqlLimits;
}

/** The answers of the engine: `ready` once, then one answer to each task. */
export type SqlAnswer = SqlResult<SqlRows | SqlChange>;

/** A statement that does more than it was granted. */
export function sqlNeeds(needs: readonly StatementKind[]): { readonly ok: false; readonly fault: SqlFault } {
  return { ok: false, fault: { reason: "denied", message: "", needs } };
}

export function sqlFault(reason: SqlFault["reason"], message = ""): { readonly ok: false; readonly fault: SqlFault } {
  return { ok: false, fault: { reason, message: message.slice(0, 500) } };
}
