import { globSync, statSync } from "node:fs";
import { join } from "node:path";
import { root, run } from "../project.mjs";

const built = [
  "packages/playground/dist/index.html",
  "packages/edge/build/worker.js",
  "packages/edge/build/sandbox.js",
];
const sources = [
  "packages/*/src/**",
  "packages/*/*.{json,html,ts}",
  "packages/playground/public/**",
  "vite.config.ts",
  "package-lock.json",
  "scripts/{keyhole-plugin,source}.mjs",
];

/** @param {string} path */
function changedAt(path) {
  return statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs;
}

/** Whether everything that is served is there and no source is younger. */
export function isBuilt() {
  const builtAt = Math.min(...built.map((path) => changedAt(path) ?? 0));
  const files = globSync(sources, { cwd: root, exclude: (path) => /(^|\/)(node_modules|dist|build)(\/|$)/.test(path) });
  return files.every((path) => (changedAt(path) ?? 0) <= builtAt);
}

/** Whoever mistyped in a file of theirs looks for its name, not for the places in ours that found it. @param {string} output */
function withoutStack(output) {
  return output.replaceAll(/^\s+at .*\n?/gm, "");
}

/**
 * Builds the page and both Workers.
 *
 * @throws {Error} with the build's own output
 */
export async function buildAll() {
  const { code, output } = await run("vite", ["build", "--app", "--logLevel", "warn"], { capture: true });
  if (code !== 0) throw new Error(`The build failed:\n${withoutStack(output).trimEnd()}`);
}
