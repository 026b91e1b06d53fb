import { membersOf } from "@keyhole/kernel/foreign";
import { isSubject } from "../wire/subjects.ts";

/** A message on a channel: a message, the wish of a queue's member to have it, and the sender's choice among them. */
export type ChannelMessage =
  | {
      readonly type: "message";
      readonly id: string;
      readonly subject: string;
      readonly reply: string | undefined;
      readonly headers: ReadonlyMap<string, string>;
      readonly body: Uint8Array;
    }
  | { readonly type: "claim" | "grant"; readonly id: string; readonly queue: string; readonly member: string };

const MOST_HEADERS = 32;
const MOST_UNITS = 4_096;

/** A message of a channel; `undefined` for anything else, which others may post there. */
export function readChannelMessage(data: unknown, bodyBytes: number): ChannelMessage | undefined {
  const { keyhole, type, id, subject, reply, headers, body, queue, member } = membersOf(data);
  if (keyhole !== 1 || !isShort(id)) return undefined;
  if (type === "claim" || type === "grant")
    return isShort(queue) && isShort(member) ? { type, id, queue, member } : undefined;
  if (type !== "message" || typeof subject !== "string" || !isSubject(subject)) return undefined;
  if (reply !== undefined && typeof reply !== "string") return undefined;
  if (!(body instanceof Uint8Array) || body.length > bodyBytes) return undefined;
  const read = readHeaders(headers);
  return read && { type, id, subject, reply, headers: read, body };
}

function readHeaders(headers: unknown): ReadonlyMap<string, string> | undefined {
  if (!(headers instanceof Map) || headers.size > MOST_HEADERS) return undefined;
  const entries: readonly (readonly [unknown, unknown])[] = [...headers];
  const read = new Map(entries.filter((entry): entry is [string, string] => entry.every(isText)));
  return read.size === headers.size ? read : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.length <= MOST_UNITS;
}

function isShort(value: unknown): value is string {
  return typeof value === "string" && value.length <= 128;
}
