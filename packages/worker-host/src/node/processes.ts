import { readdir, readFile } from "node:fs/promises";

/** Rounds of killing: a process that makes others faster than this kills them would have to win every one. */
const rounds = 50;

/**
 * Kills a group of processes, and on Linux every process with the group's mark in its environment.
 * A process can leave its group, and few change their environment. Resolves when nothing of it is
 * left, or gives up.
 *
 * @param leader the group's first process, started detached
 * @param mark a text that only this group has in its environment
 */
export async function killAll(leader: number, mark: string): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const inGroup = kill(-leader);
    const outside = await marked(mark);
    for (const pid of outside) kill(pid);
    if (!inGroup && outside.length === 0) return;
    // A killed process is in the list until its parent or the system has taken note.
    await new Promise((resolve) => setTimeout(resolve, Math.min(round, 20)));
  }
}

/** Whether there was something to kill. */
function kill(pid: number): boolean {
  try {
    process.kill(pid, "SIGKILL");
    return true;
  } catch {
    return false;
  }
}

async function marked(mark: string): Promise<number[]> {
  if (process.platform !== "linux") return [];
  const found: number[] = [];
  for (const name of await readdir("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    // Of others' processes the environment cannot be read, and of one that is gone there is none; a zombie has an empty one.
    const environment = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
    if (environment.includes(mark)) found.push(pid);
  }
  return found;
}
