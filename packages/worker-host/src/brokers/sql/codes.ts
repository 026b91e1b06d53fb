import type { SqlFault } from "./database.ts";

/**
 * Primary result codes of SQLite, with their names. Other codes concern the component, not the
 * statement.
 */
const codes: readonly (readonly [number, string, SqlFault["reason"]])[] = [
  [1, "SQLITE_ERROR", "rejected"],
  [5, "SQLITE_BUSY", "busy"],
  [6, "SQLITE_LOCKED", "busy"],
  [7, "SQLITE_NOMEM", "too-large"],
  [8, "SQLITE_READONLY", "denied"],
  [9, "SQLITE_INTERRUPT", "too-slow"],
  [13, "SQLITE_FULL", "no-space"],
  [18, "SQLITE_TOOBIG", "too-large"],
  [19, "SQLITE_CONSTRAINT", "rejected"],
  [20, "SQLITE_MISMATCH", "rejected"],
  [23, "SQLITE_AUTH", "denied"],
  // More values than the statement has places.
  [25, "SQLITE_RANGE", "rejected"],
];
const reasons: ReadonlyMap<number, SqlFault["reason"]> = new Map(codes.map(([code, , reason]) => [code, reason]));
const numbers: ReadonlyMap<string, number> = new Map(codes.map(([code, name]) => [name, code]));

/** 0, a code of no fault, for a name that is not known. */
export function codeOfName(name: string): number {
  return numbers.get(name) ?? 0;
}

/** @param code primary or extended */
export function faultOfCode(code: number, message: string): SqlFault {
  const reason = reasons.get(code & 0xff) ?? "broken";
  // The component's own description can name files of the host.
  return { reason, message: reason === "broken" ? "" : message.slice(0, 500) };
}

/** Bytes that a value takes on its way. */
export function sizeOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  return value instanceof Uint8Array ? value.byteLength : 8;
}
