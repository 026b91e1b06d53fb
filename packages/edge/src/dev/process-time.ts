import { readFileSync } from "node:fs";

/** Milliseconds of a tick in proc_pid_stat(5). Linux reports 100 ticks a second to every program (`USER_HZ`). */
const tickMs = 10;

/** The milliseconds that a process has computed so far; `undefined` where the platform does not say, or the process has ended. */
export function computedMs(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name comes second, in parentheses, and may hold anything: fields 14 and 15 count from the last parenthesis.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticks = Number(fields[11]) + Number(fields[12]);
    return Number.isNaN(ticks) ? undefined : ticks * tickMs;
  } catch {
    return undefined;
  }
}
