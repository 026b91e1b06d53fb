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
      args: ["--pack", "--profile", "esm-only", `packages/${name}`],
      readsPackages: true,
    },
  ]),
];

/** @type {{ name: string, ok: boolean, seconds: number }[]} */
const results = [];
let packagesAreBuilt = false;
for (const { name, command, args, readsPackages } of checks) {
  const startedAt = performance.now();
  /** @type {boolean} */
  const runs = !readsPackages || packagesAreBuilt;
  const { code, output } = runs
    ? await run(command, args, { capture: true, env: { NO_COLOR: "1", FORCE_COLOR: "0" } })
    : { code: 1, output: "not run: there is no complete build" };
  const ok = code === 0;
  results.push({ name, ok, seconds: (performance.now() - startedAt) / 1000 });
  if (name === "build packages") packagesAreBuilt = ok;
  if (!ok) console.log(`── ${name}: ${command} ${args.join(" ")}\n${output.trimEnd()}\n`);
  else if (name === "sizes") console.log(`${output.trimEnd()}\n`);
}

const width = Math.max(...results.map(({ name }) => name.length));
for (const { name, ok, seconds } of results) {
  console.log(`${ok ? "✓" : "✗"} ${name.padEnd(width)} ${seconds.toFixed(1).padStart(6)} s`);
}
const failed = results.filter(({ ok }) => !ok);
console.log(`${results.length - failed.length} checks passed, ${failed.length} failed`);
process.exitCode = failed.length > 0 ? 1 : 0;
