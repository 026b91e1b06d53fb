// Finds and ends every process of a run: also those in process groups of their own (Playwright starts Firefox detached)
// and those whose parent is gone.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/** The environment variable that marks each process of one run. Its value is the run's own. */
export const markName = "KEYHOLE_RUN";

/** @typedef {{ pid: number, parent: number, command: string, marked: boolean }} Process */

/** @param {string} path */
function read(path) {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return ""; // The process ended meanwhile.
  }
}

/** @param {string} mark @returns {Process[]} */
function fromProc(mark) {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const stat = read(`/proc/${name}/stat`);
      // The name stands in parentheses and may hold any character.
      const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      if (stat === "" || state === "Z") return [];
      const command = stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")"));
      const marked = read(`/proc/${name}/environ`).includes(`${markName}=${mark}\0`);
      return [{ pid: Number(name), parent: Number(parent), command, marked }];
    });
}

/** @returns {Process[]} Without /proc the environment cannot be read: only descendants are found. */
function fromPs() {
  const lines = execFileSync("ps", ["-axo", "pid=,ppid=,comm="], { encoding: "utf8" }).trim().split("\n");
  return lines.map((line) => {
    const [pid, parent, ...command] = line.trim().split(/\s+/);
    return { pid: Number(pid), parent: Number(parent), command: command.join(" "), marked: false };
  });
}

/** @param {string} mark @returns {Process[]} all processes of the machine */
function allProcesses(mark) {
  if (process.platform === "win32") return [];
  return process.platform === "linux" ? fromProc(mark) : fromPs();
}

/**
 * @param {string} mark
 * @param {number | undefined} root a process whose descendants belong to the run, marked or not
 * @returns {Process[]} without this process itself
 */
export function processesOf(mark, root, all = allProcesses(mark)) {
  const found = new Set(all.filter(({ pid, marked }) => marked || pid === root).map(({ pid }) => pid));
  for (let size = -1; size !== found.size;) {
    size = found.size;
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid);
  }
  found.delete(process.pid);
  return all.filter(({ pid }) => found.has(pid));
}

/** @param {number} pid @param {NodeJS.Signals} signal */
function send(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended by itself.
  }
}

/** @param {number} ms @returns {Promise<void>} */
function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/**
 * Ends every process of a run: each is asked, and killed when it is still there after `graceMs`.
 *
 * @param {string} mark
 * @param {number | undefined} root
 * @param {number} [graceMs]
 * @returns {Promise<void>} when none is left
 */
export async function endProcesses(mark, root, graceMs = 5_000) {
  // Remembered by pid: the child of a process that has ended is no descendant any more.
  /** @type {Set<number>} */
  const known = new Set();
  const left = () => {
    const all = allProcesses(mark);
    for (const { pid } of processesOf(mark, root, all)) known.add(pid);
    return all.map(({ pid }) => pid).filter((pid) => known.has(pid));
  };
  const killAt = performance.now() + graceMs;
  for (const pid of left()) send(pid, "SIGTERM");
  for (let pids = left(); pids.length > 0; pids = left()) {
    if (performance.now() > killAt) for (const pid of pids) send(pid, "SIGKILL");
    await pause(50);
  }
}
