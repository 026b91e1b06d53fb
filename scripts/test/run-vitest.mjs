// Runs vitest, prints a line per file as it ends, and stops a run in which nothing ends any more.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { root, withCommands } from "../project.mjs";
import { endProcesses, markName, processesOf } from "./processes.mjs";
import { commandOf, Results } from "./results.mjs";

/** What Node compiled, for the next process: the tests start hundreds, and half of a start is to strip types and to compile. */
const compileCache = join(root, "node_modules/.cache/compile");

const reporter = fileURLToPath(new URL("reporter.mjs", import.meta.url));

/** A run in which no test and no file ended for this long is stopped. A run that makes progress has no limit. */
const stallMs = 5 * 60_000;

/** @param {number} ms */
function seconds(ms) {
  return `${(ms / 1000).toFixed(1)} s`;
}

/** @param {import("./results.mjs").FileResult} file */
function printFile({ project, file, tests, failed, ms }) {
  const result = failed > 0 ? `${failed} of ${tests} failed` : `${tests} passed`;
  console.log(` ${failed > 0 ? "✗" : "✓"} ${project.padEnd(9)} ${file}  ${result}, ${seconds(ms)}`);
}

/** @param {import("./results.mjs").Failure} failure */
function printFailure(failure) {
  const { project, file, test, errors } = failure;
  console.log(`\n ✗ ${[project, file, test].filter(Boolean).join(" > ") || "outside of the tests"}`);
  for (const error of errors) console.log(error.replaceAll(/^/gm, "   "));
  if (file !== "") console.log(`   Run it alone: ${commandOf(failure)}`);
}

/** @param {Results} results @param {string | undefined} stopped why the run was stopped */
function printEnd(results, stopped) {
  if (results.failures.length > 0) console.log(`\nFailures (${results.failures.length}):`);
  for (const failure of results.failures) printFailure(failure);
  if (results.files.length > 10) {
    console.log("\nThe slowest files:");
    for (const { project, file, ms } of results.slowest(10))
      console.log(` ${seconds(ms).padStart(8)}  ${project} ${file}`);
  }
  if (stopped === undefined) return;
  console.log(
    `\n✗ The run was stopped: ${stopped}. Results so far: ${results.files.length} of ${results.planned ?? "?"} files.`,
  );
  const running = results.running();
  if (running.length > 0) console.log(` Running at that time:\n${running.map((each) => `  ${each}`).join("\n")}`);
}

/**
 * Calls `onStall` once, when `restart` was not called for `ms`.
 *
 * @param {number} ms
 * @param {() => void} onStall
 * @returns {{ restart: () => void, end: () => void }}
 */
export function watchProgress(ms, onStall) {
  let timer = setTimeout(onStall, ms);
  return {
    restart() {
      clearTimeout(timer);
      timer = setTimeout(onStall, ms);
    },
    end: () => clearTimeout(timer),
  };
}

/**
 * @param {readonly string[]} args for `vitest run`
 * @param {Record<string, string>} [env]
 * @returns {Promise<{ results: Results, code: number, stopped: string | undefined }>} when no process of the run is left
 */
export async function runVitest(args, env = {}) {
  const mark = randomUUID();
  const results = new Results();
  const child = spawn("vitest", ["run", `--reporter=${reporter}`, ...args], {
    cwd: root,
    env: { NODE_COMPILE_CACHE: compileCache, ...process.env, ...withCommands(), ...env, [markName]: mark },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    // Of its own: an interrupt of the terminal reaches this process alone, which ends all others.
    detached: process.platform !== "win32",
  });
  /** @type {string | undefined} */
  let stopped;
  /** @type {Promise<void> | undefined} */
  let ending;
  /** @param {string} reason */
  const stop = (reason) => {
    stopped ??= reason;
    ending ??= endProcesses(mark, child.pid);
  };

  const progress = watchProgress(stallMs, () => stop(`no test ended for ${stallMs / 60_000} minutes`));
  child.on("message", (/** @type {import("./results.mjs").Message} */ message) => {
    if (stopped !== undefined) return; // A test that is stopped has no result.
    const file = results.take(message);
    if (file !== undefined) printFile(file);
    if (message.type === "test-ended" && message.state === "failed") printFailure({ ...message });
    if (message.type.endsWith("ended")) progress.restart();
  });
  const signals = /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]);
  const onSignal = (/** @type {NodeJS.Signals} */ signal) => stop(`it received ${signal}`);
  for (const signal of signals) process.on(signal, onSignal);

  const code = await new Promise((resolve) => {
    child.on("error", (error) => (console.log(`vitest did not start: ${error.message}`), resolve(1)));
    child.on("close", (exitCode) => resolve(exitCode ?? 1));
  });
  progress.end();
  const left = stopped === undefined ? processesOf(mark, undefined) : [];
  if (left.length > 0)
    console.log(` still running after the tests, ended now: ${left.map(({ command }) => command).join(", ")}`);
  await (ending ?? endProcesses(mark, undefined));
  for (const signal of signals) process.off(signal, onSignal);
  printEnd(results, stopped);
  return { results, code, stopped };
}
