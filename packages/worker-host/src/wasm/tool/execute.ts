import type { IsolateCall, IsolateOutcome, IsolateUsage } from "@keyhole/kernel";
import { well } from "@keyhole/kernel/guest";
import type { CommandCall } from "../../protocol/message.ts";
import type { RunBounds, RunEnding } from "../machine/machine.ts";
import { Lines } from "../wasi/lines.ts";
import { Kept } from "../wasi/streams.ts";
import { commandOutcome } from "./command-end.ts";
import { HostCallJournal, type Port } from "./host-call-journal.ts";
import { outcomeOf } from "./outcome.ts";
import { WasmRun, type RunProgram, type WasmTool } from "./run.ts";

export interface Executed {
  readonly outcome: IsolateOutcome;
  readonly usage: Required<IsolateUsage>;
}

/** Runs one call, of a tool or of a command. */
export async function executeCall(
  tool: WasmTool,
  call: IsolateCall | CommandCall,
  port: Port,
  bounds: RunBounds,
): Promise<Executed> {
  // A module that loaded is well: it has no function that could say otherwise.
  if (call.asks === "health") return { outcome: well, usage: { fuelUsed: 0, peakMemoryBytes: 0 } };
  return "command" in call ? executeCommand(tool, call, port, bounds) : executeTool(tool, call, port, bounds);
}

async function executeTool(tool: WasmTool, call: IsolateCall, port: Port, bounds: RunBounds): Promise<Executed> {
  const hostCalls = new HostCallJournal(port);
  const program = { ...tool.start, stdin: new TextEncoder().encode(call.inputText), stdoutBytes: call.outputBytes };
  let errors = new Lines(() => {});
  const { run, ending } = await untilAnswered(hostCalls, () => {
    errors = new Lines((line) => hostCalls.say("info", line));
    return new WasmRun(tool, call, bounds, hostCalls, { ...program, stderr: (bytes) => errors.add(bytes) });
  });
  errors.end();
  if (ending.kind === "trapped") hostCalls.say("error", `The module trapped: ${ending.message}`);
  const ended = { ending, stdout: run.stdout, errors: errors.tail, refused: hostCalls.refused };
  return { outcome: outcomeOf(ended, call, bounds), usage: run.usage };
}

async function executeCommand(tool: WasmTool, call: CommandCall, port: Port, bounds: RunBounds): Promise<Executed> {
  const hostCalls = new HostCallJournal(port);
  const { stderrBytes, ...start } = call.command;
  let errors = new Kept(stderrBytes);
  const { run, ending } = await untilAnswered(hostCalls, () => {
    errors = new Kept(stderrBytes);
    const program: RunProgram = { ...start, stderr: (bytes) => errors.add(bytes) };
    return new WasmRun(tool, call, bounds, hostCalls, program);
  });
  return { outcome: commandOutcome({ ending, stdout: run.stdout, errors }, call, bounds), usage: run.usage };
}

/** Each run is an instance of its own: a second one comes only where the guest cannot wait in place. */
async function untilAnswered(
  hostCalls: HostCallJournal,
  begin: () => WasmRun,
): Promise<{ readonly run: WasmRun; readonly ending: Exclude<RunEnding, { kind: "unanswered" }> }> {
  for (;;) {
    const run = begin();
    const ending = await run.go();
    if (ending.kind !== "unanswered") return { run, ending };
    await hostCalls.journal.answer();
    hostCalls.again();
  }
}
