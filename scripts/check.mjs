// All static checks. Runs each to its end, shows the output of those that fail, and closes with a table.
import { run, typescriptProjects } from "./project.mjs";

const publicPackages = ["kernel", "worker-host", "edge"];

/** @typedef {{ name: string, command: string, args: readonly string[], readsPackages?: boolean }} Check */

/** @type {Check[]} in this order: what is built comes before what reads it */
const checks = [
  ...typescriptProjects().map((project) => ({ name: `types ${project}`, command: "tsc", args: ["-p", project] })),
  { name: "lint", command: "oxlint", args: [] },
  { name: "format", command: "oxfmt", args: ["--check"] },
  { name: "unused files, exports, dependencies", command: "knip", args: [] },
  { name: "architecture", command: "vitest", args: ["run", "--project", "node", "test/architecture.test.ts"] },
  { name: "sizes", command: "node", args: ["scripts/check-sizes.mjs"] },
  { name: "build packages", command: "node", args: ["scripts/build-packages.mjs"] },
  ...publicPackages.flatMap((name) => [
    {
      name: `publint ${name}`,
      command: "publint",
      args: ["run", "--strict", `packages/${name}`],
      readsPackages: true,
    },
    {
      name: `attw ${name}`,
      command: "attw",
      // The header is for C compilers; the other entry points are modules.
      args: [
        "--pack",
        "--profile",
        "esm-only",
        "--exclude-entrypoints",
        "./include/keyhole.h",
        "--",
        `packages/${name}`,
      ],
      readsPackages: true,
    },
  ]),
];

/**
 * @param {Check} check
 * @param {boolean} packagesAreBuilt
 * @returns {Promise<{ code: number, output: string }>}
 */
async function runCheck({ command, args, readsPackages }, packagesAreBuilt) {
  if (readsPackages && !packagesAreBuilt) return { code: 1, output: "not run: there is no complete build" };
  return run(command, args, { capture: true, env: { NO_COLOR: "1", FORCE_COLOR: "0" } });
}

/** @type {{ name: string, ok: boolean, seconds: number }[]} */
const results = [];
for (const check of checks) {
  const startedAt = performance.now();
  const packagesAreBuilt = results.some(({ name, ok }) => name === "build packages" && ok);
  const { code, output } = await runCheck(check, packagesAreBuilt);
  results.push({ name: check.name, ok: code === 0, seconds: (performance.now() - startedAt) / 1000 });
  if (code !== 0) console.log(`── ${check.name}: ${check.command} ${check.args.join(" ")}\n${output.trimEnd()}\n`);
  else if (check.name === "sizes") console.log(`${output.trimEnd()}\n`);
}

const width = Math.max(...results.map(({ name }) => name.length));
for (const { name, ok, seconds } of results) {
  console.log(`${ok ? "✓" : "✗"} ${name.padEnd(width)} ${seconds.toFixed(1).padStart(6)} s`);
}
const failed = results.filter(({ ok }) => !ok);
console.log(`${results.length - failed.length} checks passed, ${failed.length} failed`);
process.exitCode = failed.length > 0 ? 1 : 0;
