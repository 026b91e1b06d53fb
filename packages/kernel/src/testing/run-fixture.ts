import { systemClock } from "../isolate/clock.ts";
import type { IsolateHost } from "../isolate/port.ts";
import { replay } from "../replay/replay.ts";
import { readRun } from "../replay/run-file.ts";
import { checkPackage } from "../tool/check-package.ts";
import type { RegisteredTool, ToolPackage } from "../tool/package.ts";

export interface RunFixture {
  /** The text of a `.keyhole` file. */
  readonly run: string;
  /** Where the tools run; no broker of it is asked. */
  readonly host: IsolateHost;
  /** The tools of the run, or changed tools of the same names: each has to make the same requests, and to give the same bytes. */
  readonly tools: readonly ToolPackage[];
}

/**
 * Executes the tools against the answers of a recorded run, without a network or files.
 *
 * @returns the number of calls that gave the bytes of the run
 * @throws Error with the first difference, or the reason why the run cannot be read or executed
 * @example
 * await replayFixture({ run: await readFile("test/day.keyhole", "utf8"), host: nodeHost(), tools: [saveNote] });
 */
export async function replayFixture({ run, host, tools }: RunFixture): Promise<number> {
  const read = await readRun(run.split("\n"));
  if (!read.ok) throw new Error(`The run is unreadable: line ${read.line}: ${read.reason}`);
  const result = await replay(read.run, { host, tools: [], instead: tools.map(registered), clock: systemClock });
  if (result.ok) return result.calls;
  throw new Error(result.kind === "refused" ? result.reason : result.divergence.reason);
}

function registered(pkg: ToolPackage): RegisteredTool {
  const checked = checkPackage(pkg);
  if (checked.ok) return checked.value;
  throw new Error(`${checked.error.message} ${checked.error.hint}`.trimEnd());
}
