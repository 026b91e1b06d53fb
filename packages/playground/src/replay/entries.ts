import { type JsonObject, type JsonValue, visible } from "@keyhole/kernel";
import type { Run, RunEntry } from "@keyhole/kernel/replay";
import { bytesText } from "../app/words.ts";
import { shortHash } from "../ui/short-hash.ts";

/** One entry of a run as a row of both lanes. */
export interface EntryRow {
  readonly seq: number;
  readonly kind: RunEntry["kind"];
  /** The kind of the entry, in a word. */
  readonly word: string;
  readonly text: string;
}

/** Of a value in a row; the pane beside has all of it. */
const mostText = 160;

export function rowsOf({ entries }: Run): readonly EntryRow[] {
  return entries.map((entry, seq) => ({ seq, kind: entry.kind, ...said(entry) }));
}

function said(entry: RunEntry): Pick<EntryRow, "word" | "text"> {
  switch (entry.kind) {
    case "call":
      return { word: "begins", text: short(`${entry.tool} ${entry.inputText}`) };
    case "request":
      return { word: wordOf(entry.request), text: short(targetOf(entry.request)) };
    case "reply":
      return { word: "answer", text: short(`${textOf(entry.reply)}${bodyText(entry.body)}`) };
    case "outcome":
      return { word: "ends", text: short(`${entry.outcome} ${shortHash(entry.outcomeHash)}`) };
  }
}

function wordOf({ kind }: JsonObject): string {
  return typeof kind === "string" ? visible(kind.slice(0, 40)) : "request";
}

/** Its operation and arguments, which say where it leads. */
function targetOf({ kind: _, ...rest }: JsonObject): string {
  return textOf(rest);
}

function bodyText(body: string | null): string {
  return body === null ? "" : ` and ${bytesText(Math.floor((body.length * 3) / 4))}`;
}

function textOf(value: JsonValue): string {
  return JSON.stringify(value) ?? "";
}

function short(text: string): string {
  return visible(text.length > mostText ? `${text.slice(0, mostText)}…` : text);
}

/** The call that an entry is of: the last beginning of its id before it. */
export function callOf({ entries }: Run, seq: number): Extract<RunEntry, { kind: "call" }> | undefined {
  const id = entries[seq]?.callId;
  for (let at = seq; at >= 0; at--) {
    const entry = entries[at];
    if (entry?.kind === "call" && entry.callId === id) return entry;
  }
  return undefined;
}
