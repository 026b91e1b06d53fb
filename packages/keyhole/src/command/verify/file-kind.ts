import { isJsonObject, type JsonValue } from "@keyhole/kernel";
import { type CommandFiles, readText, unreadable } from "../io.ts";
import { parse, parsedLine } from "../json-file.ts";

/** The kind of a file by its first characters, or else by its name. */
export type FileKind =
  /** A list of events needs no reading: JSON has no way to read half of one. */
  | { readonly kind: "log"; readonly list: readonly JsonValue[] | undefined }
  /** Several logs, or pieces of one, as the playground saves events. */
  | { readonly kind: "logs"; readonly logs: readonly (readonly JsonValue[])[] }
  | { readonly kind: "run" }
  | { readonly kind: "document"; readonly document: JsonValue };

/** Of the beginning: more than the longest event that a kernel writes. */
const HEAD_BYTES = 65_536;

export async function readFileKind(path: string, files: CommandFiles): Promise<FileKind> {
  const head = await readHead(path, files);
  const first = head.slice(0, head.indexOf("\n") + 1 || head.length);
  const start = parsedLine(first);
  if (isJsonObject(start) && start["format"] === "keyhole-run") return { kind: "run" };
  if (isEvent(start)) return { kind: "log", list: undefined };
  if (head.startsWith(LOGS)) {
    const logs = logsOf(parse(await readText(path, files), path));
    if (logs) return { kind: "logs", logs };
  }
  if (path.endsWith(".keyhole")) return { kind: "run" };
  if (/\.(?:jsonl|ndjson|log)$/.test(path) || looksLikeLog(head)) return { kind: "log", list: undefined };
  const document = parse(await readText(path, files), path);
  const list = isPage(document) ? document["events"] : document;
  if (Array.isArray(list) && (list.length === 0 || isEvent(list[0])))
    return { kind: "log", list: list as readonly JsonValue[] };
  return { kind: "document", document };
}

const LOGS = '{"logs":[';

function logsOf(document: JsonValue): readonly (readonly JsonValue[])[] | undefined {
  const logs = isJsonObject(document) && Object.keys(document).length === 1 ? document["logs"] : undefined;
  return Array.isArray(logs) && logs.every((log) => Array.isArray(log)) ? logs : undefined;
}

async function readHead(path: string, files: CommandFiles): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of files.chunks(path)) {
      parts.push(chunk);
      bytes += chunk.length;
      if (bytes >= HEAD_BYTES) break;
    }
  } catch (error) {
    throw unreadable(path, error);
  }
  return Buffer.concat(parts).toString("utf8");
}

/** A log whose first line is damaged still has others. */
function looksLikeLog(head: string): boolean {
  return head.split("\n").some((line) => isEvent(parsedLine(line)));
}

/** As the HTTP API answers for the log. Evidence has events as well, beside its proof. */
function isPage(document: JsonValue): document is { readonly events: JsonValue; readonly next: JsonValue } {
  return isJsonObject(document) && Object.keys(document).toSorted().join() === "events,next";
}

function isEvent(value: unknown): boolean {
  return isJsonObject(value) && "seq" in value && "prev" in value && "hash" in value;
}
