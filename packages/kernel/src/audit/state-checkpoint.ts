import { isList, isSafeInteger } from "../support/guards.ts";
import type { Hash } from "../hash/hash.ts";
import { canonicalJson } from "../json/canonical-json.ts";
import { isJsonObject, type JsonValue, parseOwnJson } from "../json/json.ts";
import { type DeclaredTable, isRowChange, type RowChange } from "../state/change.ts";
import type { EventScope } from "./scope.ts";

/**
 * The governing state after one event. A kernel that opens the log there need not read earlier
 * events. It is unsigned: the log overrides it.
 */
export interface StateCheckpoint {
  readonly seq: number;
  /** Of that event. */
  readonly hash: string;
  /** Since the epoch. The rows omit state that had expired at this time. */
  readonly atMs: number;
  readonly rows: readonly RowChange[];
  /** Calls that had begun and not ended. */
  readonly openCalls: readonly OpenCall[];
}

type OpenCall = readonly [callId: string, sessionId: string | null, traceparent: string | null];

/** Of calls alone: other events have no call. */
export function openCallsOf(scopes: Iterable<EventScope>): readonly OpenCall[] {
  return Array.from(scopes).flatMap(({ callId, sessionId, traceparent }) =>
    callId === null ? [] : [[callId, sessionId, traceparent] as const],
  );
}

/** The digest in front shows a text that a crash tore. */
export function checkpointText(checkpoint: StateCheckpoint, hash: Hash): string {
  const body = canonicalJson({ ...checkpoint, v: 1 });
  return hash.text(body) + body;
}

/** `undefined` for what is no whole checkpoint of this version: the log is read instead. */
export function readCheckpointText(text: string, by: Hash): StateCheckpoint | undefined {
  const at = text.indexOf("{");
  const body = text.slice(at);
  if (at < 0 || !body.isWellFormed() || by.text(body) !== text.slice(0, at)) return undefined;
  try {
    const { v, seq, hash, atMs, rows, openCalls } = membersIn(parseOwnJson(body));
    const isRead =
      v === 1 &&
      isSafeInteger(seq) &&
      typeof hash === "string" &&
      typeof atMs === "number" &&
      Array.isArray(rows) &&
      rows.every(isRowChange) &&
      Array.isArray(openCalls) &&
      openCalls.every(isOpenCall);
    return isRead ? { seq, hash, atMs, rows, openCalls } : undefined;
  } catch {
    return undefined;
  }
}

const membersIn = (value: JsonValue): Readonly<Record<string, unknown>> => (isJsonObject(value) ? value : {});

function isOpenCall(value: unknown): value is OpenCall {
  if (!isList(value) || value.length !== 3) return false;
  const [callId, ...rest] = value;
  return typeof callId === "string" && rest.every((each) => each === null || typeof each === "string");
}

/** All rows that hold at a time, in one order: two tables in which the same happened give the same, whenever each forgot what had expired. */
export function rowsAt(tables: readonly DeclaredTable[], nowMs: number): readonly string[] {
  return tables
    .flatMap((table) => {
      table.expire(nowMs);
      return Array.from(table.rows(), (row) => canonicalJson(row));
    })
    .toSorted();
}
