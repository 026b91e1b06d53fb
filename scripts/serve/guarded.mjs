import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { root } from "../project.mjs";

const guard = fileURLToPath(new URL("guard.mjs", import.meta.url));

/** Lines of output that are kept for the message when something fails. */
const keptLines = 40;

/**
 * @typedef {object} Guarded
 * @property {number} pid of the guard, the parent of everything that the command starts
 * @property {Promise<number>} exited its exit code
 * @property {() => string} output the last lines that it printed
 * @property {() => Promise<void>} kill as `stop`, at once and without a word to the command
 * @property {() => Promise<void>} stop ends it and all that it started; resolves when they are gone
 */

/**
 * Starts a Node program that cannot outlive this process.
 *
 * @param {readonly string[]} args the program's file and its arguments
 * @param {Record<string, string>} env
 * @returns {Guarded}
 */
export function startGuarded(args, env) {
  /** @type {string[]} */
  const lines = [];
  const child = spawn(process.execPath, [guard, process.execPath, ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ["pipe", "pipe", "pipe"],
    // A group of its own: an interrupt from the terminal reaches us alone, and we end our children in order.
    detached: true,
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => {
      lines.push(...text.split("\n").filter(Boolean));
      lines.splice(0, lines.length - keptLines);
    });
  }
  const exited = new Promise((resolve) => {
    child.on("exit", (code) => resolve(code ?? 1)).on("error", () => resolve(1));
  });
  child.stdin.on("error", () => {});
  return {
    pid: child.pid ?? -1,
    exited,
    output: () => lines.join("\n"),
    async stop() {
      child.stdin.end();
      await exited;
    },
    async kill() {
      try {
        // The whole group, which outlives the guard where somebody killed that.
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      } catch {
        // Nothing of it runs.
      }
      await exited;
    },
  };
}
