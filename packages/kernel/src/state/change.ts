import { isList } from "../support/guards.ts";
import type { JsonValue } from "../json/json.ts";

/** A change of one row as an event carries it. A row that is `null` is gone. */
export type RowChange = readonly [table: string, version: number, key: string, row: JsonValue];

/** A change that takes effect when `AuditLog.record` puts it on record with its event, and never without. */
export interface StateChange {
  readonly change: RowChange;
  apply(): void;
}

export const noChanges: readonly StateChange[] = [];

export function applyAll(changes: readonly StateChange[]): void {
  changes.forEach((each) => each.apply());
}

/** A log is foreign, and its digests say nothing about its form. */
export function isRowChange(value: unknown): value is RowChange {
  if (!isList(value) || value.length !== 4) return false;
  const [table, version, key, row] = value;
  return typeof table === "string" && Number.isSafeInteger(version) && typeof key === "string" && row !== undefined;
}

/** The state of one feature that outlives the kernel, with rows of any form. */
export interface DeclaredTable {
  /** `feature.subject`: no two tables of a kernel have one name. */
  readonly name: string;
  /** Counted up with every change of what a row means. */
  readonly version: number;
  readonly size: number;
  /** How many rows it holds at most; `whenFull` of its feature says what happens beyond. */
  readonly maxRows: number;
  /** All rows, for a checkpoint; `take` reads them. */
  rows(): Iterable<RowChange>;
  /**
   * Reads a row that a log or a checkpoint holds, in the present version or an earlier one.
   *
   * @returns when the row was written, in milliseconds since the epoch, or 0 where it does not say; `undefined` for a row that cannot be read
   */
  take(key: string, row: JsonValue, version: number): number | undefined;
  /** Forgets rows that hold no longer. */
  expire(nowMs: number): void;
  /** A table of the same declaration, without rows. */
  empty(): DeclaredTable;
}
