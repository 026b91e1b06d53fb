import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/** @typedef {{ readonly pid: number, readonly parent: number, readonly command: string }} Process */

/** @returns {Process[]} every process that runs and that this user can see */
export function listProcesses() {
  return process.platform === "linux" ? fromProc() : fromPs();
}

/** @returns {Process[]} */
function fromProc() {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        // pid (name) state ppid …; the name can hold anything, so count from the last bracket (proc_pid_stat(5)).
        const stat = readFileSync(`/proc/${name}/stat`, "latin1");
        const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        if (state === "Z") return []; // It has ended, and its parent has not looked yet.
        const command = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ");
        return [{ pid: Number(name), parent: Number(parent), command }];
      } catch {
        return []; // It ended while we looked.
      }
    });
}

/** @returns {Process[]} */
function fromPs() {
  const table = execFileSync("ps", ["-A", "-o", "pid=,ppid=,args="], { encoding: "utf8", maxBuffer: 1 << 26 });
  return [...table.matchAll(/^\s*(\d+)\s+(\d+)\s+(.*)$/gm)].map(([, pid, parent, command = ""]) => ({
    pid: Number(pid),
    parent: Number(parent),
    command,
  }));
}

/**
 * @param {number} ancestor
 * @returns {Process[]} all that it started, and what those started
 */
export function descendants(ancestor) {
  const all = listProcesses();
  const found = new Set([ancestor]);
  for (let before = 0; before !== found.size;) {
    before = found.size;
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid);
  }
  return all.filter(({ pid }) => pid !== ancestor && found.has(pid));
}
