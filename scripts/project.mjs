import { spawn } from "node:child_process";
import { globSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The packages that are published, each after those that it imports. */
export const publicPackages = ["kernel", "worker-host", "agents", "bus", "keyhole", "mcp", "edge"];

export const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * The folders with a tsconfig.json; each is one TypeScript project. Those of test/peers, and templates, are compiled by the part that
 * installs their packages.
 *
 * @returns {string[]} relative to the root, sorted
 */
export function typescriptProjects() {
  const configs = globSync(["tsconfig.json", "packages/**/tsconfig.json", "test/**/tsconfig.json"], {
    cwd: root,
    exclude: (path) => /(^|\/)(node_modules|dist|peers|templates)$/.test(path),
  });
  return configs.map((path) => path.replace(/\/?tsconfig\.json$/, "") || ".").sort();
}

/** Whether `npm test` compiles it. `npm run check` compiles the rest: the test projects hold the packages' sources, too. @param {string} project */
export const isTestProject = (project) => !project.startsWith("packages/");

/** @returns {{ PATH: string }} The commands of this project and its Node come first. */
export function withCommands() {
  return { PATH: [join(root, "node_modules", ".bin"), process.env["PATH"]].join(delimiter) };
}

/**
 * Runs a command of this project in a process group of its own, without stdin. An interrupt is passed on.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ env?: Record<string, string>, capture?: boolean }} [options] `capture` keeps the output instead of showing it
 * @returns {Promise<{ code: number, output: string }>}
 */
export function run(command, args, { env = {}, capture = false } = {}) {
  const output = capture ? "pipe" : "inherit";
  return new Promise((resolve) => {
    /** @type {string[]} */
    const chunks = [];
    const child = spawn(command, args, {
      cwd: root,
      env: { ...process.env, ...withCommands(), ...env },
      stdio: ["ignore", output, output],
      detached: process.platform !== "win32",
    });
    const onSignal = () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGTERM");
      } catch {
        child.kill("SIGTERM");
      }
    };
    process.once("SIGINT", onSignal).once("SIGTERM", onSignal);
    /** @param {number} code */
    const finish = (code) => {
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
