// All static checks. Runs each to its end, shows the output of those that fail, and closes with a table.
//
//   node scripts/check.mjs                  all
//   node scripts/check.mjs --beside-tests   without those that `npm test` runs itself
import { tarballOf } from "./pack.mjs";
import { isTestProject, publicPackages, run, typescriptProjects } from "./project.mjs";

/** @typedef {{ name: string, command: string, args: readonly string[], inTests?: true, shows?: true }} Check */
/** @typedef {{ name: string, ok: boolean, seconds: number }} Result */

/** @type {readonly Check[]} */
const sourceChecks = [
  { name: "lint", command: "oxlint", args: [] },
  { name: "format", command: "oxfmt", args: ["--check"] },
  { name: "unused files, exports, dependencies", command: "knip", args: [] },
  {
    name: "architecture",
    command: "vitest",
    args: ["run", "--project", "node", "test/architecture.test.ts"],
    inTests: true,
  },
  ...typescriptProjects().map(
    (project) =>
      /** @type {const} */ ({
        name: `types ${project}`,
        command: "tsc",
        // As `npm test` does: declarations of others contradict each other.
        args: ["-p", project, ...(project === "." ? [] : ["--skipLibCheck"])],
        ...(isTestProject(project) && { inTests: /** @type {const} */ (true) }),
      }),
  ),
];

/** @type {readonly Check[]} The last ones read what the first ones make. */
const packageChecks = [
  { name: "build packages", command: "node", args: ["scripts/build-packages.mjs"] },
  { name: "contents of the tarballs", command: "node", args: ["scripts/pack.mjs"] },
];

/** @type {readonly Check[]} */
const tarballChecks = publicPackages.flatMap((name) => [
  { name: `publint ${name}`, command: "publint", args: ["run", "--strict", tarballOf(name)] },
  {
    name: `attw ${name}`,
    command: "attw",
    // The header is for C compilers; the other entry points are modules.
    args: [tarballOf(name), "--profile", "esm-only", "--exclude-entrypoints", "./include/keyhole.h"],
  },
]);

/** @type {Check} */
const sizes = { name: "sizes", command: "node", args: ["scripts/check-sizes.mjs"], shows: true };

/** @param {Check} check @returns {Promise<Result>} */
async function runCheck({ name, command, args, shows }) {
  const startedAt = performance.now();
  const { code, output } = await run(command, args, { capture: true, env: { NO_COLOR: "1", FORCE_COLOR: "0" } });
  const seconds = (performance.now() - startedAt) / 1000;
  if (code !== 0) console.log(`── ${name}: ${command} ${args.join(" ")}\n${output.trimEnd()}\n`);
  else if (shows) console.log(`${output.trimEnd()}\n`);
  return { name, ok: code === 0, seconds };
}

/** @param {readonly Check[]} checks */
async function runInOrder(checks) {
  const results = [];
  for (const check of checks) results.push(await runCheck(check));
  return results;
}

/** A tarball of an incomplete or older build says nothing. */
async function checkPackages() {
  const results = await runInOrder(packageChecks);
  if (results.every(({ ok }) => ok)) return [...results, ...(await runInOrder(tarballChecks))];
  return [...results, ...tarballChecks.map(({ name }) => ({ name: `${name} (not run)`, ok: false, seconds: 0 }))];
}

const besideTests = process.argv.includes("--beside-tests");
// One after the other: the linter follows imports into `dist`, which the build makes anew.
const results = await runInOrder(sourceChecks.filter(({ inTests }) => !(besideTests && inTests)));
results.push(...(await checkPackages()), await runCheck(sizes));

const width = Math.max(...results.map(({ name }) => name.length));
for (const { name, ok, seconds } of results) {
  console.log(`${ok ? "✓" : "✗"} ${name.padEnd(width)} ${seconds.toFixed(1).padStart(6)} s`);
}
const failed = results.filter(({ ok }) => !ok);
console.log(`${results.length - failed.length} checks passed, ${failed.length} failed`);
process.exitCode = failed.length > 0 ? 1 : 0;
