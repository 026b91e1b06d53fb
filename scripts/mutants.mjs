// Puts faults into the sources, one at a time, and asks whether the quick suite finds them: speed must not be bought with
// blindness. Each patch in test/mutants/ names its fault and the test files that are likeliest to find it; where they do not,
// the whole quick suite runs. Writes test/mutants/results.md.
//
//   node scripts/mutants.mjs            all
//   node scripts/mutants.mjs 03 limiter  those with one of the words in their file name
import { execFileSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { root, run } from "./project.mjs";

/** @param {readonly string[]} args */
const git = (...args) => execFileSync("git", args, { cwd: root, encoding: "utf8" });

/** @typedef {{ name: string, path: string, fault: string, likely: string[] }} Mutant */

/** @param {string} path @returns {Mutant} */
function readMutant(path) {
  const text = readFileSync(join(root, path), "utf8");
  const [, fault = ""] = /^Fault: (.*)$/m.exec(text) ?? [];
  const [, likely = ""] = /^Likely: (.*)$/m.exec(text) ?? [];
  if (fault === "" || likely === "") throw new Error(`${path} has no line "Fault: …" or no line "Likely: …".`);
  return { name: basename(path, ".patch"), path, fault, likely: likely.split(" ") };
}

/** @param {readonly string[]} files @returns {readonly string[]} the engines that these files need, each once */
function projectsOf(files) {
  const names = files.flatMap((file) => {
    if (file.includes(".browser.test")) return ["chromium"];
    return file.includes(".workerd.test") ? ["workerd"] : ["node", "node-own"];
  });
  return [...new Set(names)].map((name) => `--project=${name}`);
}

/**
 * @param {readonly string[]} files none: the whole suite
 * @returns {Promise<string | undefined>} the first test that failed
 */
async function firstFailure(files) {
  const folder = mkdtempSync(join(tmpdir(), "keyhole-mutant-"));
  const outputPath = join(folder, "results.json");
  const options = ["run", "--bail=1", "--reporter=json", `--outputFile=${outputPath}`];
  const { output } = await run("vitest", [...options, ...files, ...projectsOf(files)], { capture: true });
  try {
    /** @type {{ testResults: { name: string, status: string, assertionResults: { fullName: string, status: string }[] }[] }} */
    const { testResults } = JSON.parse(readFileSync(outputPath, "utf8"));
    for (const { name, status, assertionResults } of testResults) {
      const failed = assertionResults.find((test) => test.status === "failed");
      if (failed ?? status === "failed") return `${name.slice(root.length)}: ${failed?.fullName ?? "does not load"}`;
    }
    return undefined;
  } catch {
    throw new Error(`vitest wrote no results:\n${output}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** @param {Mutant} mutant */
async function tryMutant({ path, likely }) {
  git("apply", path);
  const undo = () => git("apply", "--reverse", path);
  const onSignal = () => (undo(), process.exit(1));
  process.once("SIGINT", onSignal).once("SIGTERM", onSignal);
  try {
    return (await firstFailure(likely)) ?? (await firstFailure([]));
  } finally {
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
    undo();
  }
}

if (git("status", "--porcelain", "packages").trim() !== "")
  throw new Error("packages/ has changes that are not committed: commit them first, the patches are applied there.");
const words = process.argv.slice(2);
const paths = globSync("test/mutants/*.patch", { cwd: root }).sort();
const chosen = paths.filter((path) => words.length === 0 || words.some((word) => path.includes(word))).map(readMutant);
const rows = [];
for (const mutant of chosen) {
  const startedAt = performance.now();
  const found = await tryMutant(mutant);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
  console.log(`${found === undefined ? "✗ not found" : "✓ found"}  ${mutant.name} (${seconds} s)  ${found ?? ""}`);
  rows.push({ ...mutant, found });
}
const missed = rows.filter(({ found }) => found === undefined).length;
if (words.length === 0) {
  const cells = rows.map(
    ({ name, fault, found }) => `| ${name} | ${fault} | ${(found ?? "**not found**").replaceAll("|", "\\|")} |`,
  );
  const head = [
    "# Faults put in",
    "",
    `\`node scripts/mutants.mjs\` wrote this page: ${rows.length - missed} of ${rows.length} found by \`npm test\`.`,
    "",
  ];
  const table = ["| patch | fault | found by |", "| --- | --- | --- |", ...cells, ""];
  writeFileSync(join(root, "test/mutants/results.md"), [...head, ...table].join("\n"));
}
console.log(`${rows.length - missed} passed, ${missed} failed`);
process.exitCode = missed > 0 ? 1 : 0;
