// The whole suite, or the part that the arguments name, and its closing line `N passed, N failed`.
import { globSync } from "node:fs";
import { engines, testTools } from "../engines.mjs";
import { isTestProject, root, typescriptProjects } from "../project.mjs";
import { runVitest } from "./run-vitest.mjs";
import { checkTypes } from "./types.mjs";

const nodeProjects = ["node", "node-own"];
const browserProjects = engines.map(({ name }) => name);

/** @param {string} file @returns {readonly string[]} the vitest projects that may run it */
function projectsOf(file) {
  if (file.endsWith(".browser.test.ts")) return browserProjects;
  return file.endsWith(".workerd.test.ts") ? ["workerd"] : nodeProjects;
}

/**
 * The projects that hold the files which the arguments name: a project that holds none of them does not start its engine.
 *
 * @param {readonly string[]} args
 * @returns {string[]} arguments to add
 */
function projectArgs(args) {
  if (args.some((arg) => arg.startsWith("--project"))) return [];
  const words = args.filter((arg, i) => !arg.startsWith("-") && !/^(?:-t|--testNamePattern)$/.test(args[i - 1] ?? ""));
  if (words.length === 0) return [];
  const files = globSync("test/**/*.test.ts", { cwd: root, exclude: (path) => path.endsWith("node_modules") });
  const chosen = files.filter((file) => words.some((word) => file.includes(word.replace(/^\.\//, ""))));
  return [...new Set(chosen.flatMap(projectsOf))].map((project) => `--project=${project}`);
}

/** @returns {string[]} a line per engine or tool that this machine lacks */
function absentParts() {
  const absent = [...engines, ...testTools].filter(({ isHere }) => !isHere());
  return absent.map(({ title, packages }) => `${title} is not here (Debian: apt-get install ${packages.join(" ")})`);
}

/** @returns {string[]} the projects that a whole run must hold */
function expectedProjects() {
  return [
    ...nodeProjects,
    ...engines.filter(({ needed, isHere }) => needed || isHere()).map(({ name }) => name),
    "workerd",
  ];
}

/**
 * @param {import("./results.mjs").Results} results
 * @param {boolean} isWhole
 * @returns {string[]} projects of which no test ran, although the machine has their engine
 */
function emptyProjects(results, isWhole) {
  return isWhole ? expectedProjects().filter((name) => !results.counts.has(name)) : [];
}

/**
 * Runs the tests that `args` name (none: the whole suite, and the compiler beside it) and prints the closing line.
 *
 * @param {readonly string[]} args paths and options for vitest
 * @param {{ env?: Record<string, string>, types?: boolean, libraries?: boolean }} [options] `types`: also compiles; default:
 *   without arguments
 * @returns {Promise<boolean>} whether something passed and nothing failed
 */
export async function runSuite(args, { env = {}, types = args.length === 0, libraries = false } = {}) {
  const isWhole = args.length === 0;
  const compiling = types ? checkTypes({ libraries, projects: typescriptProjects().filter(isTestProject) }) : undefined;
  const { results, code, stopped } = await runVitest([...args, ...projectArgs(args)], env);
  const compiled = stopped === undefined ? await compiling : undefined;

  const total = { passed: compiled?.passed ?? 0, failed: compiled?.failed.length ?? 0, skipped: 0 };
  console.log("");
  for (const [name, { passed, failed, skipped }] of results.counts) {
    console.log(` ${(name || "outside").padEnd(9)} ${passed} passed, ${failed} failed, ${skipped} skipped`);
    total.passed += passed;
    total.failed += failed;
    total.skipped += skipped;
  }
  for (const line of absentParts()) console.log(` ✗ ${line}`);
  const faults = emptyProjects(results, isWhole).map((name) => `${name}: no test ran`);
  for (const project of compiled?.failed ?? []) faults.push(`types: ${project} does not compile (tsc -p ${project})`);
  if (stopped !== undefined) faults.push(`the run was stopped: ${stopped}`);
  else if (code !== 0 && results.failures.length === 0) faults.push(`vitest ended with exit code ${code}`);
  if (process.env["CI"] && total.skipped > 0) faults.push("skipped tests do not count as passed in CI");
  for (const fault of faults) console.log(` ✗ ${fault}`);
  total.failed += faults.length - (compiled?.failed.length ?? 0);
  if (process.env["CI"]) total.skipped = 0;
  console.log(`${total.passed} passed, ${total.failed} failed${total.skipped > 0 ? `, ${total.skipped} skipped` : ""}`);
  return total.failed === 0 && total.passed > 0;
}
