// Runs the tests of the parts that the working tree changes, for daily work: unit tests in Node (for the edge in workerd), the
// changed test files in every engine, the rules of architecture and docs, and the compiler for the changed projects.
//
//   npm run test:changed                what differs from HEAD, files that git does not know included
//   npm run test:changed -- main        what differs from a branch or commit
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { root, run, typescriptProjects } from "./project.mjs";
import { runSuite } from "./test/suite.mjs";

/** @satisfies {Record<string, readonly string[]>} The unit tests of each part, by the beginning of its files' paths. */
const testsOf = {
  "packages/kernel/src/audit/": ["test/audit/"],
  "packages/kernel/src/schema/": ["test/schema/"],
  "packages/kernel/src/json/": ["test/normalize/"],
  "packages/kernel/src/hash/": ["test/normalize/"],
  "packages/kernel/src/bytes/": ["test/normalize/"],
  "packages/kernel/src/support/": ["test/normalize/"],
  "packages/kernel/src/normalize/": ["test/normalize/"],
  "packages/kernel/src/policy/": ["test/policy/"],
  "packages/kernel/src/replay/": ["test/audit/"],
  "packages/kernel/src/pipeline/": ["test/pipeline/"],
  "packages/kernel/": ["test/kernel/"],
  "packages/worker-host/src/brokers/": ["test/brokers/"],
  "packages/worker-host/src/tools/": ["test/tools/"],
  "packages/worker-host/src/vite/": ["test/vite/"],
  "packages/worker-host/src/wasm/": ["test/wasm/"],
  "packages/worker-host/src/node/": ["test/node/"],
  "packages/worker-host/": ["test/browser/"],
  "packages/edge/": ["test/edge/"],
  "packages/playground/": ["test/playground/"],
  "docs/": ["test/docs/"],
  "scripts/": ["test/runner/"],
};

/** @param {readonly string[]} args */
function git(...args) {
  return execFileSync("git", args, { cwd: root, encoding: "utf8" }).split("\n").filter(Boolean);
}

const [base = "HEAD"] = process.argv.slice(2);
const changed = [...git("diff", "--name-only", base), ...git("ls-files", "--others", "--exclude-standard")];
const tests = changed.filter((path) => /^test\/.*\.test\.ts$/.test(path) && existsSync(join(root, path)));
const units = Object.entries(testsOf).flatMap(([start, folders]) =>
  changed.some((path) => path.startsWith(start)) ? folders : [],
);

if (changed.length === 0) {
  console.log(`Nothing differs from ${base}: no test runs.`);
} else {
  let compiles = true;
  for (const project of typescriptProjects()) {
    const isChanged = changed.some((path) => (project === "." ? !path.includes("/") : path.startsWith(`${project}/`)));
    if (!isChanged) continue;
    const { code } = await run("tsc", ["-p", project, ...(project === "." ? [] : ["--skipLibCheck"])]);
    console.log(` ${code === 0 ? "✓" : "✗"} types ${project}`);
    compiles &&= code === 0;
  }
  const projects = ["node", "node-own", ...(units.includes("test/edge/") ? ["workerd"] : [])];
  const chosen = new Set(["test/architecture", "test/docs/links", ...units]);
  let passed = await runSuite([...chosen, ...projects.map((project) => `--project=${project}`)]);
  if (tests.length > 0) passed = (await runSuite(tests)) && passed;
  process.exitCode = passed && compiles ? 0 : 1;
}
