import { spawn } from "node:child_process";
import { globSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * The folders with a tsconfig.json; each is one TypeScript project.
 *
 * @returns {string[]} relative to the root, sorted
 */
export function typescriptProjects() {
  const configs = globSync(["tsconfig.json", "packages/**/tsconfig.json", "test/**/tsconfig.json"], {
    cwd: root,
    exclude: (path) => /(^|\/)(node_modules|dist)$/.test(path),
  });
  return configs.map((path) => path.replace(/\/?tsconfig\.json$/, "") || ".").sort();
}

/**
 * Runs a command of this project (its commands and its Node come first on the path) in a process group of its own,
 * without stdin. An interrupt is passed on, and past `timeoutMs` the whole group is killed.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ env?: Record<string, string>, capture?: boolean, timeoutMs?: number }} [options] `capture` keeps the output
 *   instead of showing it
 * @returns {Promise<{ code: number, output: string }>}
 */
export function run(command, args, { env = {}, capture = false, timeoutMs = 20 * 60_000 } = {}) {
  const path = [join(root, "node_modules", ".bin"), process.env["PATH"]].join(delimiter);
  const output = capture ? "pipe" : "inherit";
  return new Promise((resolve) => {
    /** @type {string[]} */
    const chunks = [];
    const child = spawn(command, args, {
      cwd: root,
      env: { ...process.env, PATH: path, ...env },
      stdio: ["ignore", output, output],
      detached: process.platform !== "win32",
    });
    /** @param {NodeJS.Signals} signal */
    const end = (signal) => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, signal);
      } catch {
        child.kill(signal);
      }
    };
    const timer = setTimeout(() => {
      console.log(`${command} was stopped after ${timeoutMs / 60_000} minutes`);
      end("SIGKILL");
    }, timeoutMs);
    const onSignal = () => end("SIGTERM");
    process.once("SIGINT", onSignal).once("SIGTERM", onSignal);
    /** @param {number} code */
    const finish = (code) => {
      clearTimeout(timer);
      process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
      resolve({ code, output: chunks.join("") });
    };
    child.stdout?.on("data", (chunk) => chunks.push(String(chunk)));
    child.stderr?.on("data", (chunk) => chunks.push(String(chunk)));
    child.on("error", (error) => {
      chunks.push(String(error));
      finish(1);
    });
    child.on("close", (code) => finish(code ?? 1));
  });
}
