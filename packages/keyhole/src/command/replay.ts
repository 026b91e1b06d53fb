import { checkPackage, type RegisteredTool, systemClock } from "@keyhole/kernel";
import { inspect, readRun, replay, RUN_LINE_BYTES } from "@keyhole/kernel/replay";
import { lines } from "@keyhole/kernel/audit";
import { type CommandIo, type CommandOptions, type CommandResult, counted, marks, Unusable, visible } from "./io.ts";
import { defaultFolder, openTools } from "./tools/find-tool.ts";
import { faultLine } from "./tools/load-tools.ts";

/** Executes a recorded run again, without a network, and compares each byte. */
export async function replayRun(file: string, options: CommandOptions, io: CommandIo): Promise<CommandResult> {
  const { json, tools, instead } = options;
  const read = await readRun(lines(io.files.chunks(file), RUN_LINE_BYTES));
  if (!read.ok) throw new Unusable(visible(`${file}:${read.line} ${read.reason}`));
  const given = await registered([typeof tools === "string" ? tools : defaultFolder], io);
  const mended = typeof instead === "string" ? await registered([instead], io) : [];
  const { nodeHost } = await import("@keyhole/worker-host/node");
  const host = nodeHost();
  try {
    const result = await replay(read.run, { host, tools: given, instead: mended, clock: systemClock });
    const exitCode = result.ok ? 0 : result.kind === "refused" ? 2 : 1;
    if (json === true) return { exitCode, output: `${JSON.stringify(result, undefined, 2)}\n` };
    if (result.ok) {
      const calls = inspect(read.run).map(({ tool, outcome }) => `  ${tool} ${outcome?.kind ?? ""}`);
      return {
        exitCode,
        output: report([`${marks.passed} ${counted(result.calls, "call")} gave the same bytes`, ...calls]),
      };
    }
    if (result.kind === "refused") return { exitCode, output: "", errorOutput: report([result.reason]) };
    const { reason, callId, seq } = result.divergence;
    return { exitCode, output: report([`${marks.failed} ${reason}`, `  call ${callId}, entry ${seq} of the run`]) };
  } finally {
    await host.close();
  }
}

function report(texts: readonly string[]): string {
  return texts.map((text) => `${visible(text)}\n`).join("");
}

async function registered(typed: readonly string[], io: CommandIo): Promise<readonly RegisteredTool[]> {
  const { tools, faults } = await openTools(typed, io);
  for (const fault of faults) io.note(`${faultLine(fault)}\n`);
  return tools.flatMap(({ package: pkg }) => {
    const checked = checkPackage(pkg);
    return checked.ok ? [checked.value] : [];
  });
}
