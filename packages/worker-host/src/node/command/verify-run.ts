import { lines } from "@keyhole/kernel/audit";
import { readRun, RUN_LINE_BYTES, type RunEntry } from "@keyhole/kernel/replay";
import { type CommandFiles, type CommandOptions, type CommandResult, counted, marks, visible } from "./io.ts";

/** A recorded run: that it is whole, and what a replay of it needs. Nothing of it is executed. */
export async function verifyRunFile(
  path: string,
  options: CommandOptions,
  files: CommandFiles,
): Promise<CommandResult> {
  const read = await readRun(lines(files.chunks(path), RUN_LINE_BYTES));
  const exitCode = read.ok ? 0 : 1;
  if (options["json"] === true) {
    const report = read.ok ? { ok: true, hash: read.hash, ...countsOf(read.run.entries) } : read;
    return { exitCode, output: `${JSON.stringify(report, undefined, 2)}\n` };
  }
  if (!read.ok) return { exitCode, output: `${marks.failed} run  Line ${read.line}: ${visible(read.reason)}\n` };
  const { calls, requests, tools, real } = countsOf(read.run.entries);
  const notes = [
    `${marks.passed} run  ${counted(calls, "call")} with ${counted(requests, "request")}, all whole. Digest ${read.hash}.`,
    ...tools.map((tool) => `  needs ${tool}`),
    ...(real > 0 ? [`  ${counted(real, "call")} saw the real clock or real randomness and cannot be replayed`] : []),
  ];
  return { exitCode, output: `${notes.map(visible).join("\n")}\n` };
}

function countsOf(entries: readonly RunEntry[]): {
  readonly calls: number;
  readonly requests: number;
  /** With their hashes. */
  readonly tools: readonly string[];
  readonly real: number;
} {
  const calls = entries.filter((entry) => entry.kind === "call");
  return {
    calls: calls.length,
    requests: entries.filter(({ kind }) => kind === "request").length,
    tools: [...new Set(calls.map(({ tool, toolHash }) => `${tool} ${toolHash}`))].toSorted(),
    real: calls.filter(({ real }) => real.length > 0).length,
  };
}
