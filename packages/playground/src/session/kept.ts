import { bytesText } from "../app/words.ts";
import { jsonLength } from "../run/result/size.ts";
import type { ActiveRun } from "../run/run-state.ts";
import type { CallBody } from "./database.ts";

/** The most that the session keeps of one call. */
export const limits = {
  events: 200_000,
  logs: 200_000,
  /** Of the result, as JSON or as it is. */
  dataBytes: 8 << 20,
  /** Of what the tool streamed. */
  fileBytes: 64 << 20,
} as const;

export function bodyOf(id: string, { tool, input }: ActiveRun): CallBody {
  return { id, tool, input };
}

/** The stored parts of an ended call, and sentences about the missing ones. */
export function kept(id: string, run: ActiveRun): { readonly body: CallBody; readonly unkept: readonly string[] } {
  const unkept = [
    ...cutText(run.events.length, limits.events, "events"),
    ...cutText(run.logs.length, limits.logs, "log lines"),
  ];
  const base = bodyOf(id, run);
  if (run.phase === "broken") {
    const { message, hint } = run.fault;
    return { body: { ...base, fault: { message, hint } }, unkept };
  }
  if (run.phase === "running") return { body: base, unkept };
  const { result, verification, file, recorded } = run;
  const { data, ...rest } = { data: undefined, ...result };
  const dataBytes = sizeOf(data);
  const fileBytes = file?.size ?? 0;
  const isDataKept = dataBytes <= limits.dataBytes;
  const isFileKept = fileBytes <= limits.fileBytes;
  if (!isDataKept) unkept.push(sizeText("result", dataBytes, limits.dataBytes));
  if (!isFileKept) unkept.push(sizeText("streamed file", fileBytes, limits.fileBytes));
  return {
    body: {
      ...base,
      result: rest,
      ...(data !== undefined && isDataKept && { data }),
      ...(verification && { verification }),
      ...(file && isFileKept && { file }),
      ...(recorded && { recorded }),
    },
    unkept,
  };
}

function sizeOf(data: unknown): number {
  if (data instanceof Uint8Array) return data.byteLength;
  if (typeof data === "string") return data.length;
  return data === undefined ? 0 : jsonLength(data, Number.POSITIVE_INFINITY);
}

function cutText(count: number, limit: number, what: string): readonly string[] {
  if (count <= limit) return [];
  return [`The session keeps the first ${limit.toLocaleString("en")} of ${count.toLocaleString("en")} ${what}.`];
}

function sizeText(what: string, bytes: number, limit: number): string {
  return `The ${what} has ${bytesText(bytes)}. The session keeps at most ${bytesText(limit)} of it, so only the hash stays.`;
}
