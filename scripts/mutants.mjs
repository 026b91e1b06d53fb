// Puts faults into the sources, one at a time, and asks whether the quick suite finds them: speed must not be bought with
// blindness. Each patch in test/mutants/ names its fault and the test files that are likeliest to find it; where they do not,
// the whole quick suite runs. Writes one row per fault to test/mutants/results.md; the rows of faults that were not tried stay.
//
//   node scripts/mutants.mjs             all
//   node scripts/mutants.mjs 03 limiter  those with one of the words in their file name
//   node scripts/mutants.mjs --likely    the likeliest files only: minutes instead of hours where faults are missed
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, relative } from "node:path";
import { root, run } from "./project.mjs";

/** A sentence for the person who runs the command. */
class Refusal extends Error {}

/** @param {readonly string[]} args */
const git = (...args) => execFileSync("git", args, { cwd: root, encoding: "utf8" });

/** @typedef {{ name: string, path: string, fault: string, likely: string[] }} Mutant */

/** @param {string} path @returns {Mutant} */
function readMutant(path) {
  const text = readFileSync(join(root, path), "utf8");
  const [, fault = ""] = /^Fault: (.*)$/m.exec(text) ?? [];
  const [, likely = ""] = /^Likely: (.*)$/m.exec(text) ?? [];
  const files = likely.split(" ");
  if (fault === "" || likely === "") throw new Refusal(`${path} has no line "Fault: …" or no line "Likely: …".`);
  const missing = files.find((file) => !existsSync(join(root, file)));
  if (missing !== undefined) throw new Refusal(`${path} names a test file that does not exist: ${missing}.`);
  if (!applies(path))
    throw new Refusal(`${path} does not apply any more. Put its fault into the sources as they are now.`);
  return { name: basename(path, ".patch"), path, fault, likely: files };
}

/** @param {string} path */
function applies(path) {
  return spawnSync("git", ["apply", "--check", path], { cwd: root }).status === 0;
}

/** @param {readonly string[]} files @returns {readonly string[]} the engines that these files need, each once */
function projectsOf(files) {
  const names = files.flatMap((file) => {
    if (file.includes(".browser.test")) return ["chromium"];
    return file.includes(".workerd.test") ? ["workerd"] : ["node", "node-own"];
  });
  return [...new Set(names)].map((name) => `--project=${name}`);
}

/** @typedef {{ fullName: string, status: string }} TestResult */

/**
 * @param {readonly string[]} files none: the whole suite
 * @param {readonly string[]} options for vitest
 */
async function runTests(files, options) {
  const folder = mkdtempSync(join(tmpdir(), "keyhole-mutant-"));
  const outputPath = join(folder, "results.json");
  const args = ["run", ...options, "--reporter=json", `--outputFile=${outputPath}`, ...files, ...projectsOf(files)];
  const { code, output } = await run("vitest", args, { capture: true });
  try {
    /** @type {{ testResults: { name: string, status: string, assertionResults: TestResult[] }[] }} */
    const { testResults } = JSON.parse(readFileSync(outputPath, "utf8"));
    return { code, output, testResults };
  } catch {
    throw new Refusal(`vitest wrote no results:\n${output}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * @param {readonly string[]} files none: the whole suite
 * @param {readonly string[]} [options] for vitest
 * @returns {Promise<string | undefined>} the first test that failed
 */
async function firstFailure(files, options = ["--bail=1"]) {
  const { code, output, testResults } = await runTests(files, options);
  for (const { name, status, assertionResults } of testResults) {
    const failed = assertionResults.find((test) => test.status === "failed");
    if (failed ?? status === "failed") {
      // The bail stops the report too, at times before it has the test that failed.
      if (failed === undefined && options.length > 0) return firstFailure(files, []);
      return `${relative(root, name)}: ${failed?.fullName.trim() ?? "does not load"}`;
    }
  }
  if (code !== 0 && options.length > 0) return firstFailure(files, []);
  // An error that no test catches fails the run as well.
  return code === 0 ? undefined : `outside of the tests: ${/^\w*Error: .*$/m.exec(output)?.[0] ?? `code ${code}`}`;
}

/**
 * @param {Mutant} mutant
 * @param {boolean} isLikelyOnly
 */
async function tryMutant({ path, likely }, isLikelyOnly) {
  git("apply", path);
  const undo = () => git("apply", "--reverse", path);
  const onSignal = () => (undo(), process.exit(1));
  process.once("SIGINT", onSignal).once("SIGTERM", onSignal);
  try {
    return (await firstFailure(likely)) ?? (isLikelyOnly ? undefined : await firstFailure([]));
  } finally {
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
    undo();
  }
}

const resultsPath = join(root, "test/mutants/results.md");

/** @returns {Map<string, string>} what is known of each fault: the last cell of its row */
function readResults() {
  const text = existsSync(resultsPath) ? readFileSync(resultsPath, "utf8") : "";
  const rows = text.matchAll(/^\| (\d\S*) \| .*? \| (.*) \|$/gm);
  return new Map(Array.from(rows, ([, name = "", found = ""]) => [name, found]));
}

/**
 * @param {readonly Mutant[]} mutants
 * @param {ReadonlyMap<string, string>} results
 */
function writeResults(mutants, results) {
  const rows = mutants.map(({ name, fault }) => ({ name, fault, found: results.get(name) ?? "**not tried**" }));
  const found = rows.filter((row) => !row.found.startsWith("**")).length;
  const lines = [
    "# Faults put in",
    "",
    `\`node scripts/mutants.mjs\` wrote this page: \`npm test\` finds ${found} of ${rows.length} faults.`,
    "",
    "| patch | fault | found by |",
    "| --- | --- | --- |",
    ...rows.map((row) => `| ${row.name} | ${row.fault} | ${row.found} |`),
    "",
  ];
  writeFileSync(resultsPath, lines.join("\n"));
}

/**
 * @param {readonly string[]} args
 * @returns {Promise<boolean>} whether every fault that was tried was found
 */
async function main(args) {
  if (git("status", "--porcelain", "packages").trim() !== "")
    throw new Refusal(
      "packages/ has changes that are not committed: commit them first, the patches are applied there.",
    );
  const isLikelyOnly = args.includes("--likely");
  const words = args.filter((arg) => !arg.startsWith("--"));
  const mutants = globSync("test/mutants/*.patch", { cwd: root }).sort().map(readMutant);
  const chosen = mutants.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
  if (chosen.length === 0) throw new Refusal(`No patch in test/mutants/ has one of these words: ${words.join(", ")}.`);
  let missed = 0;
  for (const mutant of chosen) {
    const startedAt = performance.now();
    const found = await tryMutant(mutant, isLikelyOnly);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
    if (found === undefined) missed++;
    console.log(`${found === undefined ? "✗ not found" : "✓ found"}  ${mutant.name} (${seconds} s)  ${found ?? ""}`);
    const miss = isLikelyOnly ? "**not found by the likeliest files**" : "**not found**";
    // Read again each time: what a stopped run has found out stays.
    writeResults(mutants, readResults().set(mutant.name, found?.replaceAll("|", "\\|") ?? miss));
  }
  console.log(`${chosen.length - missed} passed, ${missed} failed`);
  return missed === 0;
}

try {
  process.exitCode = (await main(process.argv.slice(2))) ? 0 : 1;
} catch (error) {
  if (!(error instanceof Refusal)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}
