import { lines, verdictLine, type VouchedByNobody } from "@keyhole/kernel/audit";
import { readRun, RUN_LINE_BYTES, type RunEntry } from "@keyhole/kernel/replay";
import {
  type CommandFiles,
  type CommandOptions,
  type CommandResult,
  counted,
  exitCodes,
  marks,
  visible,
} from "../io.ts";

const nobody: VouchedByNobody = {
  kind: "nobody",
  reason: "A run has no signature, so its author is unknown.",
};

/** A recorded run: that it is whole, and what a replay of it needs. The command executes no part of it. */
export async function verifyRunFile(
  path: string,
  options: CommandOptions,
  files: CommandFiles,
): Promise<CommandResult> {
  const read = await readRun(lines(files.chunks(path), RUN_LINE_BYTES));
  if (!read.ok) {
    const { line, reason } = read;
    const broken = { verdict: "broken", line, reason } as const;
    const text = `${marks.failed} run  Line ${line}: ${visible(reason)}\n${verdictLine(broken)}\n`;
    return { exitCode: exitCodes.broken, output: options["json"] === true ? inJson(broken) : text };
  }
  const exitCode = exitCodes.unvouched;
  const intact = { verdict: "unvouched", vouchedBy: nobody } as const;
  if (options["json"] === true)
    return { exitCode, output: inJson({ ...intact, hash: read.hash, ...countsOf(read.run.entries) }) };
  const { calls, requests, tools, real } = countsOf(read.run.entries);
  const notes = [
    `${marks.passed} run  ${counted(calls, "call")} with ${counted(requests, "request")}, all whole. Digest ${read.hash}.`,
    ...tools.map((tool) => `  needs ${tool}`),
    ...(real > 0 ? [`  ${counted(real, "call")} saw the real clock or real randomness and cannot be replayed`] : []),
    verdictLine(intact),
  ];
  return { exitCode, output: `${notes.map(visible).join("\n")}\n` };
}

function inJson(report: object): string {
  return `${JSON.stringify(report, undefined, 2)}\n`;
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
