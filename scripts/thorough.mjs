// Runs everything there is, in named parts that each run alone within 30 minutes:
//
//   npm run test:thorough                 all parts, one after the other
//   npm run test:thorough -- battery node some parts
//   npm run test:thorough -- --list       the parts and their contents
import { run } from "./project.mjs";
import { runSuite } from "./test/suite.mjs";
import { checkTypes } from "./test/types.mjs";
import { parts } from "./test/thorough-parts.mjs";

const env = { KEYHOLE_THOROUGH: "1" };

/**
 * @param {import("./test/thorough-parts.mjs").Part["run"]} step
 * @returns {Promise<boolean>}
 */
async function runStep(step) {
  if ("tests" in step) return runSuite(step.tests, { env, types: false });
  if ("command" in step) return (await run("node", step.command, { env })).code === 0;
  if ("peers" in step) return runPeers(step);
  if ("npm" in step) return runScripts(step.npm);
  return (await checkTypes({ libraries: true })).failed.length === 0;
}

/** @param {readonly string[]} names */
async function runScripts(names) {
  for (const name of names) if ((await run("npm", ["run", "-s", name])).code !== 0) return false;
  return true;
}

/**
 * The packages of peers come first: neither the types nor the tests of test/peers do without.
 *
 * @param {{ peers: readonly string[], packed?: boolean }} step
 */
async function runPeers({ peers, packed = false }) {
  if ((await run("node", ["scripts/peers.mjs", ...peers])).code !== 0) return false;
  if (packed && !(await runScripts(["build:packages"]))) return false;
  // Declarations of foreign packages name others that a peer does not install.
  const { failed } = await checkTypes({ libraries: false, projects: peers.map((name) => `test/peers/${name}`) });
  const tests = ["--project=node", "--project=node-own", ...peers.map((name) => `test/peers/${name}/`)];
  return (await runSuite(tests, { env, types: false })) && failed.length === 0;
}

const args = process.argv.slice(2);
const unknown = args.filter((name) => name !== "--list" && !parts.some((part) => part.name === name));
if (unknown.length > 0) {
  console.log(`There is no part ${unknown.join(", ")}. Parts: ${parts.map(({ name }) => name).join(", ")}.`);
  process.exitCode = 2;
} else if (args.includes("--list")) {
  for (const { name, holds } of parts) console.log(`${name.padEnd(14)} ${holds}`);
} else {
  /** @type {string[]} */
  const lines = [];
  for (const part of parts.filter(({ name }) => args.length === 0 || args.includes(name))) {
    console.log(`\n── ${part.name}: ${part.holds}`);
    const startedAt = performance.now();
    const passed = await runStep(part.run);
    const minutes = (performance.now() - startedAt) / 60_000;
    lines.push(`${passed ? "✓" : "✗"} ${part.name.padEnd(14)} ${minutes.toFixed(1).padStart(5)} min`);
    if (!passed) process.exitCode = 1;
  }
  console.log(`\n${lines.join("\n")}`);
  const failed = lines.filter((line) => line.startsWith("✗")).length;
  console.log(`${lines.length - failed} passed, ${failed} failed`);
}
