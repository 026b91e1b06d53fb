import { resolve } from "node:path";
import type { AuditEvent } from "@keyhole/kernel";
import { toCloudEvent } from "@keyhole/worker-host/cloudevents";
import { type CommandIo, type CommandOptions, type CommandResult, counted, Unusable, visible } from "../io.ts";
import { openWhole, type WholeFile } from "../whole-file.ts";
import { readEvents } from "./read-events.ts";

/** Writes a log in another format. Events keep their digests, so that what is exported as JSON can be verified. */
export async function exportLog(file: string, options: CommandOptions, io: CommandIo): Promise<CommandResult> {
  const { head, row } = writerOf(options);
  const { out } = options;
  const target = typeof out === "string" ? await openWhole(resolve(io.folder, out)) : printed(io);
  let events = 0;
  try {
    if (head !== "") await target.write(`${head}\n`);
    for await (const event of readEvents(file, io.files)) {
      io.signal.throwIfAborted();
      await target.write(`${row(event)}\n`);
      events++;
    }
    await target.end();
  } catch (error) {
    await target.drop();
    if (error instanceof Unusable || io.signal.aborted) throw error;
    throw new Unusable(visible(`${String(out)} cannot be written: ${String(error)}`), { cause: error });
  }
  if (typeof out === "string") io.note(`${counted(events, "event")} written to ${visible(out)}\n`);
  return { exitCode: 0, output: "" };
}

interface Writer {
  readonly head: string;
  readonly row: (event: AuditEvent) => string;
}

function writerOf({ format, source }: CommandOptions): Writer {
  if (format === "cloudevents") {
    if (typeof source !== "string") throw new Unusable("A CloudEvent names its log: --source URI.");
    return { head: "", row: (event) => JSON.stringify(toCloudEvent(event, source)) };
  }
  if (format === "csv") return { head: "seq,time,type,callId,sessionId,payload,hash", row: csvRow };
  return { head: "", row: (event) => JSON.stringify(event) };
}

function csvRow({ seq, time, type, callId, sessionId, payload, hash }: AuditEvent): string {
  const cells = [String(seq), time, type, callId ?? "", sessionId ?? "", JSON.stringify(payload), hash];
  return cells.map((cell) => csvCell(visible(cell))).join(",");
}

/** A caller chooses its session, and spreadsheets compute what begins so. The apostrophe makes it a text. */
function csvCell(cell: string): string {
  const text = /^[=+\-@]/.test(cell) ? `'${cell}` : cell;
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function printed({ print }: CommandIo): WholeFile {
  return { write: async (text) => print(text), end: async () => {}, drop: async () => {} };
}
