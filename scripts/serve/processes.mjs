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
    .flatMap((name) => readProc(Number(name)));
}

/**
 * @param {number} pid
 * @returns {Process[]} the one, or none
 */
function readProc(pid) {
  try {
    // pid (name) state ppid …; the name can hold anything, so count from the last bracket (proc_pid_stat(5)).
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (state === "Z") return []; // It has ended, and its parent has not looked yet.
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
    return [{ pid, parent: Number(parent), command }];
  } catch {
    return []; // It ended while we looked.
  }
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

/**
 * @param {number} pid
 * @returns {boolean}
 */
export function isRunning(pid) {
  if (process.platform === "linux") return readProc(pid).length > 0;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM"; // It runs, and is somebody else's.
  }
}

/**
 * Who started this process: its parent, and above it every npm with the shells between them. `npm start` runs npm again, so the one that a person
 * started is not the parent, and its end changes nothing in the parent.
 *
 * @returns {number[]}
 */
export function starters() {
  const isLink = /^(?:npm |(?:\S*\/)?(?:ba|da)?sh -c )|npm-cli\.js/;
  const all = new Map(listProcesses().map((each) => [each.pid, each]));
  const found = [process.ppid];
  for (let at = all.get(process.ppid); at !== undefined && isLink.test(at.command);) {
    at = all.get(at.parent);
    if (at !== undefined && isLink.test(at.command)) found.push(at.pid);
  }
  return found;
}
