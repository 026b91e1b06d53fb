import { isJsonObject } from "@keyhole/kernel";
import { createHash } from "node:crypto";
import type { Duplex } from "node:stream";
import { parsedLine } from "../json-file.ts";

/** The first line that a client's process sends to the process that has the log open. */
export interface Hello {
  readonly caller: string;
  /** Labels and standing approvals hold within it. */
  readonly session: string;
  /** Digests of all that decides what is served, by a name for messages. Both processes must agree. */
  readonly parts: Readonly<Record<string, string>>;
}

export type Welcome =
  | { readonly ok: true; readonly pid: number }
  | { readonly ok: false; readonly pid: number; readonly part: string };

const HELLO_BYTES = 65_536;
const LINE_FEED = 10;

/** Secrets can be among the values: the line holds no value. */
export function digestsOf(values: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const digest = (value: unknown): string =>
    createHash("sha256")
      .update(JSON.stringify(value) ?? "")
      .digest("hex");
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, digest(value)]));
}

export function helloOf(line: string): Hello | undefined {
  const value = parsedLine(line);
  if (!isJsonObject(value)) return undefined;
  const { caller, session, parts } = value;
  if (typeof caller !== "string" || typeof session !== "string" || !isJsonObject(parts)) return undefined;
  const digests = Object.entries(parts).filter((part): part is [string, string] => typeof part[1] === "string");
  return { caller, session, parts: Object.fromEntries(digests) };
}

export function welcomeOf(line: string): Welcome | undefined {
  const value = parsedLine(line);
  if (!isJsonObject(value) || typeof value["pid"] !== "number") return undefined;
  const { ok, pid, part } = value;
  if (ok === true) return { ok, pid };
  return ok === false && typeof part === "string" ? { ok, pid, part } : undefined;
}

/** Reads the first line and leaves the rest in the stream. `undefined` where the other end goes, sends too much or waits too long. */
export async function firstLine(stream: Duplex, withinMs: number): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  let bytes = Buffer.alloc(0);
  // Not "data": a stream that flows loses all that comes before its next reader.
  const take = (): void => {
    for (let chunk: unknown = stream.read(); chunk instanceof Uint8Array; chunk = stream.read()) {
      bytes = Buffer.concat([bytes, chunk]);
      const end = bytes.indexOf(LINE_FEED);
      if (end < 0 && bytes.length <= HELLO_BYTES) continue;
      stream.off("readable", take);
      if (end >= 0 && end + 1 < bytes.length) stream.unshift(bytes.subarray(end + 1));
      return resolve(end < 0 ? undefined : bytes.toString("utf8", 0, end));
    }
  };
  const gone = (): void => resolve(undefined);
  const timer = setTimeout(gone, withinMs);
  stream.on("readable", take).once("end", gone).once("close", gone);
  const line = await promise;
  clearTimeout(timer);
  stream.off("readable", take).off("end", gone).off("close", gone);
  return line;
}
