// Runs one command for as long as its own stdin stays open: `node guard.mjs COMMAND ARGS…`. Whoever started it may end in any way, also by
// SIGKILL; the pipe closes then, and the command and everything that it started end with it.
import { spawn } from "node:child_process";

/** After SIGTERM; wrangler takes about one second to end its own children. */
const graceMs = 4_000;

const [command = "", ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ["ignore", "inherit", "inherit"] });

/** This process leads its group (it is started detached), so the group is all that there is to end. */
function endGroup() {
  try {
    process.kill(-process.pid, "SIGKILL");
  } catch {
    child.kill("SIGKILL");
    process.exit(1);
  }
}

function end() {
  child.kill("SIGTERM");
  setTimeout(endGroup, graceMs);
}

process.stdin.on("end", end).on("close", end).on("error", end).resume();
process.on("SIGINT", () => {}).on("SIGTERM", end);
child.on("error", (error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});
child.on("exit", (code) => process.exit(code ?? 1));
