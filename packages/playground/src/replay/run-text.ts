import type { ActiveRun } from "../run/run-state.ts";

/** The run of a call, as a `.keyhole` file has it; `undefined` where the page has no record of it. */
export async function runText(run: ActiveRun): Promise<string | undefined> {
  if (run.phase !== "done" || run.recorded === undefined) return undefined;
  const { writeRun } = await import("@keyhole/kernel/replay");
  return writeRun({ entries: run.recorded });
}
