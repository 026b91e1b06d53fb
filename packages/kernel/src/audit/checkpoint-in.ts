import type { Hash } from "../hash/hash.ts";
import { canonicalJson } from "../json/canonical-json.ts";
import { isJsonObject, type JsonValue, parseOwnJson } from "../json/json.ts";
import { type DeclaredTable, isRowChange } from "../state/change.ts";
import { isList, isSafeInteger } from "../support/guards.ts";
import type { CheckpointParts } from "./checkpoints.ts";
import type { OpenCall } from "./open-calls.ts";
import type { AuditSink } from "./sink.ts";
import type { StateCheckpoint } from "./state-checkpoint.ts";

/** The checkpoint of a sink, if it has one of this very log: the event must be there. */
export async function checkpointIn(
  { sink, hash }: Pick<CheckpointParts, "sink" | "hash">,
  lastSeq: number,
): Promise<StateCheckpoint | undefined> {
  const text = await textIn(sink);
  const checkpoint = readCheckpointText(text, hash);
  if (!checkpoint || checkpoint.seq > lastSeq) return undefined;
  const [record] = await sink.read(checkpoint.seq, 1);
  const isThere =
    record?.seq === checkpoint.seq && record.hash === checkpoint.hash && hash.text(record.body) === record.hash;
  return isThere ? checkpoint : undefined;
}

async function textIn(sink: AuditSink): Promise<string> {
  try {
    return (await sink.readCheckpoint?.()) ?? "";
  } catch {
    return "";
  }
}

/** `undefined` for what is no whole checkpoint of this version: the kernel reads the log instead. */
export function readCheckpointText(text: string, by: Hash): StateCheckpoint | undefined {
  const at = text.indexOf("{");
  const body = text.slice(at);
  if (at < 0 || !body.isWellFormed() || by.text(body) !== text.slice(0, at)) return undefined;
  try {
    const { v, seq, hash, atMs, rows, openCalls } = membersIn(parseOwnJson(body));
    const isRead =
      v === 2 &&
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
