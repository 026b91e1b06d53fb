// Runs every test there is and prints as its last line `N passed, N failed`. A TypeScript project that compiles is one
// passed test: the type tests are in there. Arguments go to vitest: `npm test -- test/kernel` runs a part.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { engines, testTools } from "./engines.mjs";
import { run, typescriptProjects } from "./project.mjs";

const absent = engines.filter(({ needed, isHere }) => !needed && !isHere());
const browsers = engines.filter((engine) => !absent.includes(engine)).map(({ name }) => name);
const expectedProjects = ["node", ...browsers, "workerd"];
const args = process.argv.slice(2);
const total = { passed: 0, failed: 0, skipped: 0 };

async function checkTypes() {
  const projects = typescriptProjects();
  let failed = 0;
  for (const project of projects) {
    const { code } = await run("tsc", ["-p", project]);
    if (code === 0) continue;
    failed += 1;
    console.log(` ✗ ${project} does not compile`);
  }
  console.log(` types     ${projects.length - failed} of ${projects.length} projects compile`);
  total.passed += projects.length - failed;
  total.failed += failed;
}

/** @param {string} path */
function readCounts(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}

async function runVitest() {
  const folder = mkdtempSync(join(tmpdir(), "keyhole-test-"));
  const countsPath = join(folder, "counts.json");
  // Ours comes first: it counts even when the other one fails on what it has to print.
  const reporters = ["--reporter=./scripts/test-reporter.mjs", "--reporter=default"];
  const { code } = await run("vitest", ["run", ...reporters, ...args], { env: { KEYHOLE_TEST_COUNTS: countsPath } });
  const counts = readCounts(countsPath);
  rmSync(folder, { recursive: true, force: true });

  const before = total.failed;
  for (const [name, project] of Object.entries(counts?.projects ?? {})) {
    console.log(` ${name.padEnd(9)} ${project.passed} passed, ${project.failed} failed, ${project.skipped} skipped`);
    total.passed += project.passed;
    total.failed += project.failed;
    total.skipped += project.skipped;
  }
  for (const { title, packages } of [...absent, ...testTools.filter(({ isHere }) => !isHere())])
    console.log(` ✗ ${title} did not run (Debian: apt-get install ${packages.join(" ")})`);
  total.failed += counts?.unhandledErrors ?? 0;
  if (args.length === 0) {
    for (const name of expectedProjects) {
      if (counts?.projects[name] !== undefined) continue;
      console.log(` ✗ ${name}: no test ran`);
      total.failed += 1;
    }
  }
  if (code !== 0 && total.failed === before) {
    console.log(` ✗ vitest ended with exit code ${code}`);
    total.failed += 1;
  }
}

if (args.length === 0) await checkTypes();
await runVitest();
if (process.env["CI"] && total.skipped > 0) {
  console.log(` ✗ skipped tests do not count as passed in CI`);
  total.failed += total.skipped;
  total.skipped = 0;
}
console.log(`${total.passed} passed, ${total.failed} failed${total.skipped > 0 ? `, ${total.skipped} skipped` : ""}`);
process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0;
