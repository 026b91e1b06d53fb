import type { AuditEvent } from "@keyhole/kernel";
import { type CommandIo, type CommandOptions, type CommandResult, Unusable } from "../io.ts";
import { optionOf } from "../options.ts";
import { eventLine } from "./event-line.ts";
import { readEvents } from "./read-events.ts";

/** Prints the events of a log, one a line. */
export async function showLog(file: string, options: CommandOptions, io: CommandIo): Promise<CommandResult> {
  const wanted = filterOf(options);
  const last = lastOf(optionOf(options, "last"));
  const line = options["json"] === true ? (event: AuditEvent) => JSON.stringify(event) : eventLine;
  const kept: string[] = [];
  for await (const event of readEvents(file, io.files)) {
    io.signal.throwIfAborted();
    if (!wanted(event)) continue;
    if (last === undefined) await io.print(`${line(event)}\n`);
    else if (kept.push(`${line(event)}\n`) > last) kept.shift();
  }
  return { exitCode: 0, output: kept.join("") };
}

/** Each given condition has to hold. */
function filterOf({ call, type, tool }: CommandOptions): (event: AuditEvent) => boolean {
  const toolCalls = new Set<string>();
  return (event) => {
    const { callId, payload } = event;
    if (typeof call === "string" && callId?.endsWith(call) !== true) return false;
    if (typeof type === "string" && event.type !== type && !event.type.startsWith(`${type}.`)) return false;
    if (typeof tool !== "string") return true;
    // Only some events name the tool; the others belong to its calls.
    const named = "tool" in payload ? payload.tool : undefined;
    if (named !== undefined && (named === tool || named.startsWith(`${tool}@`))) {
      if (callId !== null) toolCalls.add(callId);
      return true;
    }
    return callId !== null && toolCalls.has(callId);
  };
}

function lastOf(typed: string | undefined): number | undefined {
  if (typed === undefined) return undefined;
  const count = Number(typed);
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new Unusable(`--last is ${typed}; expected a number of events from 1.`);
}
