import { type AuditEvent, isJsonObject } from "@keyhole/kernel";
import { LineFault, lines } from "@keyhole/kernel/audit";
import { type CommandFiles, unreadable, Unusable, visible } from "../io.ts";
import { parsedLine } from "../json-file.ts";
import { readFileKind } from "../verify/file-kind.ts";

/**
 * The events of a log as they are written, in memory for one line. The verb verifies no event.
 *
 * @throws {Unusable} for a file that is no log, or a line that is no event
 */
export async function* readEvents(path: string, files: CommandFiles): AsyncGenerator<AuditEvent, void, undefined> {
  const found = await readFileKind(path, files);
  if (found.kind === "logs") {
    for (const [log, events] of found.logs.entries())
      for (const [index, event] of events.entries()) yield eventOf(event, `${path}, log ${log + 1}, item ${index + 1}`);
    return;
  }
  if (found.kind !== "log") throw new Unusable(`${visible(path)} is not an audit log.`);
  if (found.list) {
    for (const [index, event] of found.list.entries()) yield eventOf(event, `${path}, item ${index + 1}`);
    return;
  }
  let line = 0;
  try {
    for await (const text of lines(files.chunks(path))) yield eventOf(parsedLine(text), `${path}:${++line}`);
  } catch (error) {
    if (error instanceof Unusable) throw error;
    if (error instanceof LineFault)
      throw new Unusable(visible(`${path}:${error.line} ${error.message}`), { cause: error });
    throw unreadable(path, error);
  }
}

/** Checks only the members that the command shows. */
function eventOf(value: unknown, place: string): AuditEvent {
  const isEvent =
    isJsonObject(value) &&
    typeof value["seq"] === "number" &&
    typeof value["time"] === "string" &&
    typeof value["type"] === "string" &&
    (value["callId"] === null || typeof value["callId"] === "string") &&
    isJsonObject(value["payload"]);
  if (isEvent) return value as unknown as AuditEvent;
  throw new Unusable(`${visible(place)} is not an event. keyhole verify says more.`);
}
